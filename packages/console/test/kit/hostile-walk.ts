// Walks through every page with hostile names, and looks for harm to the page.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { projectSections, systemSections } from '../../src/app/sections.ts'
import { en } from '../../src/texts/en.ts'
import { type HostileObjects, findHarm, lengthenNames } from './hostile-names.ts'
import type { Visit } from './scene.ts'
import { createWalk } from './walk.ts'

type HostilePage = readonly [path: string, title: string | null]

/**
 * Lists addresses with the title of their page; null if the title contains a name. Every kind of name is open in one of
 * the panels.
 */
function listPages(ids: HostileObjects): HostilePage[] {
  const { tenants, applications, triggers, people, pilets } = ids
  const project = '/p/main'
  const titleOf = (text: string): string => en[text as 'section.tenants']
  return [
    ['/', 'Projects'],
    ...systemSections.map(({ path, text }) => [`/system/${path}`, titleOf(text)] as const),
    ...projectSections.flat().map(({ path, text }) => [`${project}/${path}`, titleOf(text)] as const),
    [`${project}/tenants?open=${tenants.script}`, 'Tenants'],
    [`${project}/tenants?open=${tenants.placeholder}&tab=members`, 'Tenants'],
    [`${project}/tenants?open=${tenants.override}&tab=applications`, 'Tenants'],
    [`${project}/applications?open=${applications.image}`, 'Applications'],
    [`${project}/applications?open=${applications.placeholder}&tab=tenants`, 'Applications'],
    [`${project}/applications?open=${applications.combining}&tab=members`, 'Applications'],
    [`${project}/applications?open=${applications.combining}&tab=access`, 'Applications'],
    [`${project}/triggers?open=${triggers.script}`, 'Triggers'],
    [`${project}/triggers?open=${triggers.placeholder}`, 'Triggers'],
    [`${project}/triggers?open=${triggers.override}`, 'Triggers'],
    [`${project}/deployments?open=${applications.placeholder}.dev`, 'Deployments'],
    [`${project}/deployments?open=${applications.override}.run`, 'Deployments'],
    [`${project}/members?open=${people.isolate}`, 'Members'],
    [`${project}/members?open=${people.placeholder}`, 'Members'],
    [`${project}/members?view=access&open=${people.override}&tab=access`, 'Members'],
    [`${project}/members?in=tenant&tenant=${tenants.rightToLeft}`, 'Members'],
    [`${project}/pilets?open=${pilets.placeholder}`, 'Pilets'],
    [`${project}/pilets?open=${pilets.override}&tab=usage`, 'Pilets'],
    [`${project}/pilets?view=feed&application=${applications.script}&tenant=${tenants.override}`, 'Pilets'],
    [`${project}/settings?tenant=${tenants.unbroken}&application=${applications.placeholder}`, 'Settings'],
    [`${project}/settings?tenant=${tenants.override}&application=${applications.emoji}`, 'Settings'],
    ...listContentPages(ids),
    ...listProvisioningPages(ids),
  ]
}

const listProvisioningPages = ({ provisioning }: HostileObjects): HostilePage[] =>
  (['script', 'override', 'isolate', 'placeholder'] as const).flatMap((kind): HostilePage[] => {
    const { tokenId, groupId, ruleId } = provisioning[kind]
    const section = '/system/provisioning'
    return [
      [`${section}?open=${tokenId}`, 'Provisioning'],
      [`${section}?view=groups&open=${groupId}`, 'Provisioning'],
      [`${section}?view=groups&open=${groupId}&tab=people`, 'Provisioning'],
      [`${section}?view=rules&open=${ruleId}`, 'Provisioning'],
    ]
  })

/** Lists addresses that show texts of partners, backends and callers, and views for paper. */
function listContentPages({ contents, triggers, applicationId }: HostileObjects): HostilePage[] {
  const project = '/p/main'
  const kinds = ['script', 'attribute', 'override', 'isolate', 'placeholder'] as const
  return [
    ...kinds.flatMap((kind): HostilePage[] => {
      const { endpoint, machineUser, call, run } = contents[kind]
      return [
        [`${project}/esb?open=${endpoint}`, 'ESB'],
        [`${project}/esb?open=${endpoint}&tab=access`, 'ESB'],
        [`${project}/esb/${endpoint}`, null],
        [`${project}/calls?application=${applicationId}&open=${call}`, 'Calls'],
        [`${project}/machine-users?open=${machineUser}`, 'Machine users'],
        [`${project}/machine-users?open=${machineUser}&tab=access`, 'Machine users'],
        [`${project}/triggers?open=${triggers[kind]}&run=${run}`, null],
      ]
    }),
    [`${project}/deployments?open=${applicationId}.dev&tab=backends`, 'Deployments'],
    ['/me?tab=inbox', null],
    ['/system/access-review?scope=system', 'Access review'],
    ['/system/access-review?scope=system&print=1', null],
    ['/system/evidence?query=access-grants', null],
    ['/system/evidence?query=access-grants&print=1', null],
    ['/system/evidence?view=chains', 'Evidence'],
  ]
}

/** Closes the dialog by the keyboard. The first press can close a tooltip. */
async function closeDialog(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  for (let count = 0; count < 2 && (await dialog.count()) > 0; count++) {
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached', timeout: 5_000 }).catch(() => {})
  }
  await dialog.waitFor({ state: 'detached' })
}

/**
 * Returns the harm that hostile names have done to each page, and the messages in the developer console of the browser.
 */
export async function walkHostileNames(visit: Visit, ids: HostileObjects) {
  const { page, complaints } = visit
  await lengthenNames(page)
  const { go, settle } = createWalk(visit)
  const problems: Record<string, string[]> = {}
  const look = async (name: string): Promise<void> => {
    const harm = await findHarm(page)
    if (harm.length > 0) problems[name] = harm
  }
  for (const [path, title] of listPages(ids)) {
    await go(path)
    if (title !== null) expect([path, await page.title()]).toEqual([path, `${title} · Manager`])
    await look(path)
  }
  for (const kind of ['placeholder', 'override', 'attribute'] as const) {
    await go(`/p/main/tenants?open=${ids.tenants[kind]}`)
    for (const button of ['Edit', 'Delete']) {
      await page.getByRole('button', { name: button, exact: true }).click()
      await settle()
      await look(`${button} ${kind}`)
      await closeDialog(page)
    }
  }
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('dialog').getByRole('searchbox').fill('hacked')
  await page.getByRole('menuitem').nth(3).waitFor()
  await look('search')
  return { problems, complaints }
}
