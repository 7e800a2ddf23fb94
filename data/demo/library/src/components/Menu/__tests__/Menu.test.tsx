import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Menu } from "../Menu";

const ITEMS = [
  { id: "edit", label: "Edit" },
  { id: "move", label: "Move", disabled: true },
  { id: "remove", label: "Remove" },
];

async function openMenu(onSelect = jest.fn()) {
  render(<Menu label="Vessel" items={ITEMS} onSelect={onSelect} />);
  await userEvent.click(screen.getByRole("button", { name: "Vessel" }));
  return onSelect;
}

describe("Menu", () => {
  it("opens when the button is clicked", async () => {
    await openMenu();
    expect(screen.getByRole("menu", { name: "Vessel" })).toBeVisible();
    expect(screen.getByRole("button", { name: "Vessel" })).toHaveAttribute("aria-expanded", "true");
  });

  it("reports the chosen item and closes", async () => {
    const onSelect = await openMenu();
    await userEvent.click(screen.getByRole("menuitem", { name: "Remove" }));
    expect(onSelect).toHaveBeenCalledWith("remove");
    expect(screen.queryByRole("menu")).not.toBeInTheDocument();
  });

  it("closes with Escape and gives focus back to the button", async () => {
    await openMenu();
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("menu")).not.toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Vessel" })).toHaveFocus();
  });
});
