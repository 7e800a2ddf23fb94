import type { ReactNode } from "react";
import { cx } from "../../utils/cx";

export interface FieldMessageProps {
  tone?: "hint" | "error";
  children: ReactNode;
}

/** The line below a form field. */
export function FieldMessage({ tone = "hint", children }: FieldMessageProps) {
  return <p className={cx("hb-field-message", `hb-field-message--${tone}`)}>{children}</p>;
}
