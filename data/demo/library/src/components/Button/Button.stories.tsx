import type { Meta, Story } from "../../stories";
import { Button, type ButtonProps } from "./Button";

const meta: Meta<ButtonProps> = { title: "Actions/Button", component: Button };
export default meta;

export const Primary: Story<ButtonProps> = { args: { variant: "primary", children: "Book a berth" } };

export const Quiet: Story<ButtonProps> = { args: { variant: "quiet", children: "Cancel" } };
