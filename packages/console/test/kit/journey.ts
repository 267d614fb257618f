// The journey of a person who has never seen the console, from creating a project to adding a member.
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectFocus, step } from './focus.ts'
import { type Hands, useKeyboard, usePointer } from './hands.ts'
import type { Scene } from './scene.ts'

const ways = { pointer: usePointer, keyboard: useKeyboard }

/**
 * Runs the journey with a pointer or with only the keyboard. Returns developer console messages and foreign requests.
 */
export async function makeJourney(scene: Scene, way: keyof typeof ways): Promise<string[]> {
  const visit = await scene.visit(scene.admin)
  const hands = ways[way](visit.page)
  const run = (name: string, work: () => Promise<void>): Promise<void> => step(visit.page, name, work)
  const person = await scene.person(`vera-${way}`)
  await visit.open('/')
  await run('create a project', () => createProject(hands, `Shop by ${way}`))
  await addApplication(scene, `shop-by-${way}`, 'Billing')
  await run('add a tenant', () => create(hands, { section: 'Tenants', kind: 'tenant', name: 'Northwind' }))
  await run('add an application', () =>
    create(hands, { section: 'Applications', kind: 'application', name: 'Shop' }),
  )
  await run('enable an application in the matrix', () => enableInMatrix(hands))
  await run('enable an application in the panel', () => enableInPanel(hands))
  await run('choose a tenant and an application', () => chooseSettings(hands))
  await run('set values', () => setValues(hands))
  await run('add a member', () => addMember(hands, person.name ?? ''))
  return [...visit.complaints, ...visit.foreignRequests]
}

const findButton = (page: Page | Locator, name: string): Locator =>
  page.getByRole('button', { name, exact: true })
const findPanel = (page: Page, name: string): Locator =>
  page.getByRole('complementary', { name, exact: true })

async function createProject(hands: Hands, name: string): Promise<void> {
  const { page } = hands
  const button = findButton(page, 'Create project')
  const dialog = page.getByRole('dialog', { name: 'Create project' })
  await hands.press(button)
  await hands.close(dialog)
  await expectFocus(button)
  await hands.press(button)
  await hands.fill(dialog.getByRole('textbox', { name: /^Name/ }), name)
  await hands.press(findButton(dialog, 'Create'))
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  // The page that contained the button is closed, so the focus is at the start of the new page.
  await expectFocus(page.getByRole('main'))
}

/** A second application, which the journey enables in the panel of the tenant. */
async function addApplication(scene: Scene, slug: string, name: string): Promise<void> {
  const { data } = await scene.service.query(
    scene.admin,
    'query($slug: String!) { project(slug: $slug) { id } }',
    { slug },
  )
  const { error } = await scene.service.query(
    scene.admin,
    'mutation($project: ID!, $input: CreateApplicationInput!) { createApplication(projectId: $project, input: $input) { id } }',
    { project: data.project.id, input: { name, slug: name.toLowerCase(), description: '' } },
  )
  expect(error).toBeNull()
}

type Created = { section: string; kind: 'tenant' | 'application'; name: string }

async function create(hands: Hands, { section, kind, name }: Created): Promise<void> {
  const { page } = hands
  const button = findButton(page, `New ${kind}`)
  const dialog = page.getByRole('dialog', { name: `New ${kind}` })
  const panel = findPanel(page, name)
  await hands.goTo(section)
  // An empty list has the button twice: in the head of the page and in place of the rows.
  await hands.press(button.first())
  await hands.fill(dialog.getByRole('textbox', { name: /^Name/ }), name)
  await hands.press(findButton(dialog, 'Create'))
  await expectFocus(panel)
  await page.getByRole('row', { name: new RegExp(`^${name}`) }).waitFor()
  await hands.close(panel)
  await expectFocus(button)
}

async function enableInMatrix(hands: Hands): Promise<void> {
  const { page } = hands
  const grid = page.getByRole('grid', { name: 'Access matrix' })
  const preview = findPanel(page, 'Preview')
  await hands.goTo('Access matrix')
  await grid.getByRole('columnheader', { name: 'Shop 0' }).waitFor()
  expect(await grid.getByRole('columnheader').allInnerTexts()).toEqual(['Tenant', 'Billing\n0', 'Shop\n0'])
  await hands.pressCell(grid, grid.getByRole('gridcell', { name: 'never enabled' }).nth(1))
  await hands.press(findButton(preview, 'Apply 1 change'))
  await preview.waitFor({ state: 'hidden' })
  await expectFocus(grid)
  await grid.getByRole('gridcell', { name: 'on', exact: true }).waitFor()
}

async function enableInPanel(hands: Hands): Promise<void> {
  const { page } = hands
  const row = page.getByRole('row', { name: /^Northwind/ })
  const panel = findPanel(page, 'Northwind')
  const billing = panel.getByRole('switch', { name: /^Billing/ })
  await hands.goTo('Tenants')
  await hands.press(row)
  await expectFocus(panel)
  // The panel shows the data that it read before until the new response arrives.
  await expect.poll(() => panel.getByRole('switch', { name: 'Shop' }).isChecked()).toBe(true)
  await hands.turn(billing)
  await panel.getByText('2 of 2 on').waitFor()
  expect(await billing.isChecked()).toBe(true)
  await expectFocus(billing)
  await hands.close(panel)
  await expectFocus(row)
}

async function chooseSettings(hands: Hands): Promise<void> {
  const { page } = hands
  await hands.goTo('Settings')
  for (const [label, name] of [
    ['Tenant', 'Northwind'],
    ['Application', 'Shop'],
  ] as const) {
    await hands.press(findButton(page, `${label} Choose …`))
    await expectFocus(page.getByRole('dialog', { name: label }).locator('input'))
    await page.keyboard.type(name.slice(0, 4))
    await hands.choose(page.getByRole('option', { name }))
    await expectFocus(findButton(page, `${label} ${name}`))
  }
}

async function setValues(hands: Hands): Promise<void> {
  const { page } = hands
  const { keyboard } = page
  const findCell = (layer: string): Locator => findButton(page, `greeting in layer ${layer}`)
  const effective = page.getByRole('row', { name: /^greeting/ }).locator('[data-result]')
  const expectEffective = async (text: RegExp): Promise<void> => {
    await expect.poll(() => effective.innerText()).toMatch(text)
  }
  await hands.press(findButton(page, 'Add key').first())
  await keyboard.type('greeting')
  await keyboard.press('Enter')
  await expectFocus(findCell('Project'))
  for (const [layer, value] of [
    ['Project', 'Hello'],
    ['Tenant', 'Welcome to Northwind'],
  ] as const) {
    await hands.press(findCell(layer))
    await keyboard.type(value)
    await keyboard.press('Enter')
    await expectFocus(findCell(layer))
    await expectEffective(new RegExp(`^${value}\\s+from ${layer}`))
  }
  const dialog = page.getByRole('dialog', { name: 'Save 2 changes' })
  await hands.press(findButton(page, 'Review and save'))
  await hands.close(dialog)
  await expectFocus(findButton(page, 'Review and save'))
  await hands.press(findButton(page, 'Review and save'))
  await hands.press(findButton(dialog, 'Save'))
  await dialog.waitFor({ state: 'hidden' })
  // The save bar has disappeared, and its button with it.
  await expectFocus(findCell('Tenant'))
  await page.reload()
  await expectEffective(/^Welcome to Northwind\s+from Tenant$/)
}

async function addMember(hands: Hands, name: string): Promise<void> {
  const { page } = hands
  const button = findButton(page, 'Add member')
  const dialog = page.getByRole('dialog', { name: /^Add a member to / })
  const panel = findPanel(page, name)
  await hands.goTo('Members')
  await hands.press(button)
  await hands.fill(dialog.getByRole('combobox', { name: 'Person' }), name)
  await hands.choose(page.getByRole('option', { name: new RegExp(`^${name}`) }))
  await expectFocus(findButton(dialog, 'Choose another person'))
  await hands.pickRadio(dialog.getByRole('radio', { name: /^developer/ }))
  await hands.press(findButton(dialog, 'Add member'))
  await expectFocus(panel)
  await page
    .getByRole('row', { name: new RegExp(`^${name}`) })
    .getByText('developer')
    .waitFor()
  await hands.close(panel)
  await expectFocus(button)
}
