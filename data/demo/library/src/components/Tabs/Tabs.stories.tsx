import type { Meta, Story } from "../../stories";
import { Tabs, type TabsProps } from "./Tabs";

const meta: Meta<TabsProps> = { title: "Navigation/Tabs", component: Tabs };
export default meta;

export const Harbour: Story<TabsProps> = {
  args: {
    label: "Harbour",
    tabs: [
      { id: "berths", label: "Berths", content: "48 berths" },
      { id: "vessels", label: "Vessels", content: "31 vessels" },
      { id: "tides", label: "Tides", content: "High water at 14:20" },
    ],
  },
};
