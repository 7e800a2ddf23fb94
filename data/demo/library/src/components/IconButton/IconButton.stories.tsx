import type { Meta, Story } from "../../stories";
import { IconButton, type IconButtonProps } from "./IconButton";

const meta: Meta<IconButtonProps> = { title: "Actions/IconButton", component: IconButton };
export default meta;

export const Remove: Story<IconButtonProps> = { args: { label: "Remove berth", icon: "×" } };
