import { useRef, type KeyboardEvent, type ReactNode } from "react";
import { useFocusTrap } from "../../hooks/useFocusTrap";
import { IconButton } from "../IconButton/IconButton";
import "./Dialog.css";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const panel = useRef<HTMLDivElement>(null);
  useFocusTrap(panel);

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "Escape") onClose();
  }

  return (
    <div className="hb-dialog__backdrop">
      <div ref={panel} role="dialog" aria-modal="true" aria-label={title} className="hb-dialog" onKeyDown={onKeyDown}>
        <header className="hb-dialog__header">
          <h2 className="hb-dialog__title">{title}</h2>
          <IconButton className="hb-dialog__close" label="Close" icon="×" onClick={onClose} />
        </header>
        <div className="hb-dialog__body">{children}</div>
      </div>
    </div>
  );
}
