// Walks through every page with hostile names, and looks for harm to the page.
import { expect } from 'vitest'
import { projectSections, systemSections } from '../../src/app/sections.ts'
import { en } from '../../src/texts/en.ts'
import { type HostileObjects, findHarm, lengthenNames } from './hostile-names.ts'
import type { Visit } from './scene.ts'
import { createWalk } from './walk.ts'

/** Lists addresses with the title of their page. Every kind of name is open in one of the panels. */
function listPages(ids: HostileObjects): (readonly [path: string, title: string])[] {
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
  ]
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
    expect([path, await page.title()]).toEqual([path, `${title} · Manager`])
    await look(path)
  }
  for (const kind of ['placeholder', 'override', 'attribute'] as const) {
    await go(`/p/main/tenants?open=${ids.tenants[kind]}`)
    for (const button of ['Edit', 'Delete']) {
      await page.getByRole('button', { name: button, exact: true }).click()
      await settle()
      await look(`${button} ${kind}`)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
  }
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('dialog').getByRole('searchbox').fill('hacked')
  await page.getByRole('menuitem').nth(3).waitFor()
  await look('search')
  return { problems, complaints }
}
