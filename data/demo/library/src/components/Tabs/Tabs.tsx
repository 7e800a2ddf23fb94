import { useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { cx } from "../../utils/cx";
import "./Tabs.css";

export interface Tab {
  id: string;
  label: string;
  content: ReactNode;
}

export interface TabsProps {
  label: string;
  tabs: Tab[];
}

export function Tabs({ label, tabs }: TabsProps) {
  const [selected, setSelected] = useState(0);
  const list = useRef<HTMLDivElement>(null);

  function move(index: number) {
    setSelected(index);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[index]?.focus();
  }

  function onKeyDown(event: KeyboardEvent) {
    const last = tabs.length - 1;
    if (event.key === "ArrowRight") move(selected === last ? 0 : selected + 1);
    if (event.key === "ArrowLeft") move(selected === 0 ? last : selected - 1);
    if (event.key === "Home") move(0);
    if (event.key === "End") move(last);
  }

  return (
    <div className="hb-tabs">
      <div ref={list} role="tablist" aria-label={label} className="hb-tabs__list" onKeyDown={onKeyDown}>
        {tabs.map((tab, index) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`tab-${tab.id}`}
            aria-controls={`panel-${tab.id}`}
            aria-selected={index === selected}
            tabIndex={index === selected ? 0 : -1}
            className={cx("hb-tabs__tab", index === selected && "hb-tabs__tab--selected")}
            onClick={() => setSelected(index)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {tabs.map((tab, index) => (
        <div
          key={tab.id}
          role="tabpanel"
          id={`panel-${tab.id}`}
          aria-labelledby={`tab-${tab.id}`}
          hidden={index !== selected}
          className="hb-tabs__panel"
        >
          {tab.content}
        </div>
      ))}
    </div>
  );
}
