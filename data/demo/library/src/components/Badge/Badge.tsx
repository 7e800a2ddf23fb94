import { cx } from "../../utils/cx";
import "./Badge.css";

export interface BadgeProps {
  count: number;
  tone?: "neutral" | "danger";
}

export function Badge({ count, tone = "neutral" }: BadgeProps) {
  return <span className={cx("hb-badge", `hb-badge--${tone}`)}>{count}</span>;
}
