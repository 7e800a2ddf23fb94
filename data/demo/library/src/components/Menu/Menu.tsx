import { useRef, useState, type KeyboardEvent } from "react";
import { Button } from "../Button/Button";
import "./Menu.css";

export interface MenuItem {
  id: string;
  label: string;
  disabled?: boolean;
}

export interface MenuProps {
  label: string;
  items: MenuItem[];
  onSelect: (id: string) => void;
}

export function Menu({ label, items, onSelect }: MenuProps) {
  const [open, setOpen] = useState(false);
  const trigger = useRef<HTMLButtonElement>(null);

  function close() {
    setOpen(false);
    trigger.current?.focus();
  }

  function select(id: string) {
    close();
    onSelect(id);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "Escape") close();
  }

  return (
    <div className="hb-menu" onKeyDown={onKeyDown}>
      <Button ref={trigger} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
        {label}
      </Button>
      {open && (
        <ul role="menu" aria-label={label} className="hb-menu__list">
          {items.map((item) => (
            <li key={item.id} role="none">
              <button
                type="button"
                role="menuitem"
                className="hb-menu__item"
                disabled={item.disabled}
                onClick={() => select(item.id)}
              >
                {item.label}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
