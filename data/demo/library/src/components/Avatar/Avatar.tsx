import { cx } from "../../utils/cx";
import "./Avatar.css";

export interface AvatarProps {
  /** Full name of the person. */
  name: string;
  src?: string;
  size?: "small" | "medium" | "large";
}

function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  return [words[0], words.length > 1 ? words[words.length - 1] : ""].map((word) => word.charAt(0)).join("");
}

export function Avatar({ name, src, size = "medium" }: AvatarProps) {
  return (
    <span className={cx("hb-avatar", `hb-avatar--${size}`)}>
      {src ? (
        <img className="hb-avatar__image" src={src} />
      ) : (
        <span className="hb-avatar__initials">{initials(name)}</span>
      )}
    </span>
  );
}
