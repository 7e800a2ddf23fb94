import type { Meta, Story } from "../../stories";
import { Dialog, type DialogProps } from "./Dialog";

const meta: Meta<DialogProps> = { title: "Overlays/Dialog", component: Dialog };
export default meta;

export const Plain: Story<DialogProps> = {
  args: { title: "Give up the berth?", children: "Somebody on the waiting list will get it." },
};
