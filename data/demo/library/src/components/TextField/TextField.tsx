import type { InputHTMLAttributes } from "react";
import { useField } from "../../hooks/useField";
import { cx } from "../../utils/cx";
import { FieldMessage } from "./FieldMessage";
import "./TextField.css";

export interface TextFieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  /** Help that is always there. */
  hint?: string;
  /** What is wrong with the value; takes the place of the hint. */
  error?: string;
}

export function TextField({ label, hint, error, id, className, ...rest }: TextFieldProps) {
  const { labelProps, inputProps } = useField({ id });
  return (
    <div className={cx("hb-text-field", error && "hb-text-field--error", className)}>
      <label className="hb-text-field__label" {...labelProps}>
        {label}
      </label>
      <input className="hb-text-field__input" {...rest} {...inputProps} />
      {error && <FieldMessage tone="error">{error}</FieldMessage>}
      {hint && !error && <FieldMessage>{hint}</FieldMessage>}
    </div>
  );
}
