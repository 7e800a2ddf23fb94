import type { ComponentType, ReactNode } from "react";

/** The part of the component story format that our stories use. */
export interface Meta<Props> {
  title: string;
  component: ComponentType<Props>;
}

export interface Story<Props> {
  args?: Partial<Props>;
  render?: (args: Props) => ReactNode;
}
