import type { Locator, Page } from 'playwright-core'

export const findButton = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true })
