import type { Meta, Story } from "../../stories";
import { Alert, type AlertProps } from "./Alert";

const meta: Meta<AlertProps> = { title: "Feedback/Alert", component: Alert };
export default meta;

export const Info: Story<AlertProps> = {
  args: { title: "Tide tables updated", children: "The new tables are valid from Monday." },
};

export const Danger: Story<AlertProps> = {
  args: { tone: "danger", title: "Berth lost", children: "Berth 14 was given to another vessel." },
};
