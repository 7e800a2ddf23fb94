import { forwardRef, type ButtonHTMLAttributes, type ReactNode } from "react";
import { cx } from "../../utils/cx";
import "./IconButton.css";

export interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> {
  /** What the button does; shown as its tooltip. */
  label: string;
  icon: ReactNode;
}

export const IconButton = forwardRef<HTMLButtonElement, IconButtonProps>(function IconButton(
  { label, icon, className, ...rest },
  ref,
) {
  return (
    <button ref={ref} type="button" className={cx("hb-icon-button", className)} data-tooltip={label} {...rest}>
      <span className="hb-icon-button__icon">{icon}</span>
    </button>
  );
});
