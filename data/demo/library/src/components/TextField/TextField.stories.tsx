import type { Meta, Story } from "../../stories";
import { TextField, type TextFieldProps } from "./TextField";

const meta: Meta<TextFieldProps> = { title: "Forms/TextField", component: TextField };
export default meta;

export const Plain: Story<TextFieldProps> = { args: { label: "Vessel", hint: "As in the register" } };

export const Wrong: Story<TextFieldProps> = { args: { label: "Draught", error: "Enter a number of metres" } };
