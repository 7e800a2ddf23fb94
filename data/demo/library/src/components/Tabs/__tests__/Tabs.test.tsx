import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Tabs } from "../Tabs";

const TABS = [
  { id: "berths", label: "Berths", content: "48 berths" },
  { id: "vessels", label: "Vessels", content: "31 vessels" },
  { id: "tides", label: "Tides", content: "High water at 14:20" },
];

describe("Tabs", () => {
  beforeEach(() => {
    render(<Tabs label="Harbour" tabs={TABS} />);
  });

  it("shows the first panel", () => {
    expect(screen.getByRole("tabpanel", { name: "Berths" })).toHaveTextContent("48 berths");
  });

  it("shows the panel of the tab that is clicked", async () => {
    await userEvent.click(screen.getByRole("tab", { name: "Tides" }));
    expect(screen.getByRole("tabpanel", { name: "Tides" })).toBeVisible();
    expect(screen.getByText("48 berths")).not.toBeVisible();
  });
});
