// Two people edit the same settings. The second one sees the conflict and merges both changes, and nothing is lost.
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectFocus, step } from '../kit/focus.ts'
import { useConsole } from '../kit/scene.ts'

const scene = useConsole()

const findButton = (place: Page | Locator, name: string): Locator =>
  place.getByRole('button', { name, exact: true })
const findCell = (page: Page, key: string): Locator => findButton(page, `${key} in layer Tenant`)

const readSettings = async (): Promise<{ id: string; values: Record<string, string> }> => {
  const { data } = await scene.service.query(
    scene.admin,
    'query($tenant: ID!) { settings(tenant: $tenant) { id frontendSetting { moduleConfig { KeyValuePairs { Key Value } } } } }',
    { tenant: scene.project.tenantId },
  )
  const pairs = data.settings.frontendSetting.moduleConfig.KeyValuePairs as { Key: string; Value: string }[]
  return {
    id: data.settings.id as string,
    values: Object.fromEntries(pairs.map(({ Key, Value }) => [Key, Value])),
  }
}

async function setValues(values: Readonly<Record<string, string>>): Promise<void> {
  const { error } = await scene.service.query(
    scene.admin,
    'mutation($project: ID!, $changes: [UpdateSettingsKeysInput!]!) { setSettingsKeys(projectId: $project, changes: $changes) { id } }',
    {
      project: scene.project.id,
      changes: [
        {
          settingsId: (await readSettings()).id,
          part: 'frontend',
          set: Object.entries(values).map(([Key, Value]) => ({ Key, Value })),
        },
      ],
    },
  )
  expect(error).toBeNull()
}

/** Opens the settings of the tenant as a maintainer and types values, which are not saved yet. */
async function editAs(name: string, values: Readonly<Record<string, string>>): Promise<Page> {
  const { page, open } = await scene.visit(await scene.member(name, 'maintainer'))
  await open(`/p/main/settings?tenant=${scene.project.tenantId}&application=${scene.project.applicationId}`)
  await step(page, `${name} edits`, async () => {
    for (const [key, value] of Object.entries(values)) {
      await findCell(page, key).click()
      await page.keyboard.type(value)
      await page.keyboard.press('Enter')
      await expectFocus(findCell(page, key))
    }
  })
  return page
}

async function save(page: Page): Promise<void> {
  await findButton(page, 'Review and save').click()
  await findButton(page.getByRole('dialog'), 'Save').click()
}

test('a second person merges their change with the one that was saved first', async () => {
  await setValues({ limit: '10', color: 'blue', title: 'Start' })
  const ben = await editAs('ben', { color: 'red', title: 'Welcome' })
  const ada = await editAs('ada', { limit: '20', color: 'teal' })
  await step(ada, 'ada saves', async () => {
    await save(ada)
    await ada.getByText('Saved 2 values: Tenant').waitFor()
  })
  const dialog = ben.getByRole('dialog', { name: 'Somebody else changed these settings' })
  await step(ben, 'ben sees the conflict', async () => {
    await save(ben)
    await dialog.getByText('ada saved a change while you were editing.').waitFor()
    await dialog.getByText('Conflicting fields: 1; other changed fields: 2.').waitFor()
    expect(await findButton(dialog, 'Save result').isEnabled()).toBe(false)
    expect((await readSettings()).values).toEqual({ limit: '20', color: 'teal', title: 'Start' })
  })
  await step(ben, 'ben returns to the edits and back', async () => {
    await findButton(dialog, 'Back to editing').click()
    await dialog.waitFor({ state: 'hidden' })
    await expectFocus(findButton(ben, 'Review and save'))
    await save(ben)
  })
  await step(ben, 'ben merges', async () => {
    const color = dialog.getByRole('row', { name: /^color · Tenant conflict/ })
    await color.getByRole('radio', { name: 'teal' }).check()
    await findButton(dialog, 'Save result').click()
    await dialog.waitFor({ state: 'hidden' })
    await expectFocus(findCell(ben, 'title'))
  })
  expect((await readSettings()).values).toEqual({ limit: '20', color: 'teal', title: 'Welcome' })
})
