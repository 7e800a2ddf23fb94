import { cx } from "../../utils/cx";
import "./Toggle.css";

export interface ToggleProps {
  label: string;
  on: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}

export function Toggle({ label, on, disabled, onChange }: ToggleProps) {
  return (
    <button
      type="button"
      className={cx("hb-toggle", on && "hb-toggle--on")}
      disabled={disabled}
      onClick={() => onChange(!on)}
    >
      <span className="hb-toggle__track">
        <span className="hb-toggle__thumb" />
      </span>
      <span className="hb-toggle__label">{label}</span>
    </button>
  );
}
