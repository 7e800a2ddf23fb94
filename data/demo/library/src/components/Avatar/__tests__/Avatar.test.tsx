import { render, screen } from "@testing-library/react";
import { Avatar } from "../Avatar";

describe("Avatar", () => {
  it("shows the photo", () => {
    const { container } = render(<Avatar name="Ada Lovelace" src="/people/ada.jpg" />);
    expect(container.querySelector("img")).toHaveAttribute("src", "/people/ada.jpg");
  });

  it("falls back to the initials", () => {
    render(<Avatar name="Grace Brewster Hopper" />);
    expect(screen.getByText("GH")).toBeVisible();
  });

  it("has one initial for a single name", () => {
    render(<Avatar name="Hypatia" />);
    expect(screen.getByText("H")).toBeVisible();
  });
});
