import type { Meta, Story } from "../../stories";
import { Avatar, type AvatarProps } from "./Avatar";

const meta: Meta<AvatarProps> = { title: "Display/Avatar", component: Avatar };
export default meta;

export const Photo: Story<AvatarProps> = { args: { name: "Ada Lovelace", src: "/people/ada.jpg" } };

export const Initials: Story<AvatarProps> = { args: { name: "Grace Hopper", size: "large" } };
