import type { Meta, Story } from "../../stories";
import { Toggle, type ToggleProps } from "./Toggle";

const meta: Meta<ToggleProps> = { title: "Forms/Toggle", component: Toggle };
export default meta;

export const On: Story<ToggleProps> = { args: { label: "Night lights", on: true } };

export const Off: Story<ToggleProps> = { args: { label: "Night lights", on: false } };
