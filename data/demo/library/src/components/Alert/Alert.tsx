import type { ReactNode } from "react";
import { cx } from "../../utils/cx";
import "./Alert.css";

export interface AlertProps {
  tone?: "info" | "success" | "danger";
  title?: string;
  children: ReactNode;
}

export function Alert({ tone = "info", title, children }: AlertProps) {
  return (
    <div className={cx("hb-alert", `hb-alert--${tone}`)}>
      {title && <p className="hb-alert__title">{title}</p>}
      <div className="hb-alert__body">{children}</div>
    </div>
  );
}
