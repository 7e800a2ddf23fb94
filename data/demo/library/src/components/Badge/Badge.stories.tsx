import type { Meta, Story } from "../../stories";
import { Badge, type BadgeProps } from "./Badge";

const meta: Meta<BadgeProps> = { title: "Display/Badge", component: Badge };
export default meta;

export const Neutral: Story<BadgeProps> = { args: { count: 3 } };

export const Danger: Story<BadgeProps> = { args: { count: 12, tone: "danger" } };
