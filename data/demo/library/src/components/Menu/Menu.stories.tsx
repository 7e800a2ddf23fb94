import type { Meta, Story } from "../../stories";
import { Menu, type MenuProps } from "./Menu";

const meta: Meta<MenuProps> = { title: "Actions/Menu", component: Menu };
export default meta;

export const Vessel: Story<MenuProps> = {
  args: {
    label: "Vessel",
    items: [
      { id: "edit", label: "Edit" },
      { id: "move", label: "Move to another berth", disabled: true },
      { id: "remove", label: "Remove" },
    ],
  },
};
