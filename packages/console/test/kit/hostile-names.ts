// Names that try to run as a script, to change the text around them, or to break the layout.
import { randomUUID } from 'node:crypto'
import { seedMember, seedTenant, seedUser } from '@manager/harness/seed.ts'
import type { Page } from 'playwright-core'
import { seedPilet } from '../../../manager/test/kit/stored-pilets.ts'
import { seedTrigger } from '../../../manager/test/kit/triggers.ts'
import { type HostileContents, seedHostileContents } from './hostile-contents.ts'
import { fetchFor } from './requests.ts'
import type { Scene } from './scene.ts'
import { seedPack } from './seed-pack.ts'
import { type HostileProvisioning, seedHostileProvisioning } from './seed-provisioning.ts'
import { seedSettings } from './seed-settings.ts'

/** The database limits names to 100 characters. The page gets 10,000 characters in place of this one. */
const placeholder = 'long-placeholder'
const longText = 'W'.repeat(10_000)

export const hostileNames = {
  script: '<script>globalThis.hacked=1</script>',
  image: '<img src=x onerror="globalThis.hacked=1">',
  attribute: '"><svg onload=globalThis.hacked=1>',
  address: 'javascript:globalThis.hacked=1',
  template: '{{constructor.constructor("hacked=1")()}} ${hacked=1}',
  /** Without a character that ends it, the override would reverse all text after it. */
  override: '\u202Egnp.exe',
  isolate: 'a\u2067\u202Eb\u2069\u2069c',
  rightToLeft: 'شركة الشحن العربية المحدودة',
  emoji: '👩‍👩‍👧‍👦🏴‍☠️'.repeat(6),
  zeroWidth: 'in\u200Bvis\u200Di\uFEFFble',
  combining: `Z${'\u0310\u0321\u0489'.repeat(32)}`,
  unbroken: 'w'.repeat(100),
  placeholder,
} as const
type NameKind = keyof typeof hostileNames
const kinds = Object.keys(hostileNames) as NameKind[]

export type HostileObjects = Record<
  'tenants' | 'applications' | 'triggers' | 'people' | 'pilets',
  Record<NameKind, string>
> & {
  contents: Record<NameKind, HostileContents>
  provisioning: Record<NameKind, HostileProvisioning>
  applicationId: string
}

/** Inserts objects of every kind, and a setting, for every name. Returns their ids. */
export async function seedHostileNames(scene: Scene): Promise<HostileObjects> {
  const {
    service: { sql },
    project,
  } = scene
  const { id: projectId } = project
  const ids = {
    tenants: {},
    applications: {},
    triggers: {},
    people: {},
    pilets: {},
    contents: {},
    provisioning: {},
    applicationId: project.applicationId,
  } as HostileObjects
  for (const [index, kind] of kinds.entries()) {
    const name = hostileNames[kind]
    const [tenantId, applicationId] = [randomUUID(), randomUUID()]
    await seedTenant(sql, projectId, tenantId, `t-${index}`)
    await sql.query('update tenants set name = $2 where id = $1', [tenantId, name])
    await sql.query(
      'insert into applications (id, project_id, name, slug, description) values ($1, $2, $3, $4, $3)',
      [applicationId, projectId, name, `a-${index}`],
    )
    await sql.query(
      'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
      [randomUUID(), projectId, tenantId, applicationId],
    )
    const triggerId = await seedTrigger(sql, { id: projectId, applicationId })
    await sql.query('update triggers set name = $2, description = $2, run_key = $2 where id = $1', [
      triggerId,
      name,
    ])
    const person = await seedUser(sql, `person-${index}`)
    await sql.query('update users set external_name = $2, external_email = $2 where id = $1', [
      person.id,
      name,
    ])
    await seedMember(sql, person, 'readonly', { projectId })
    const membershipId = await seedMember(sql, person, 'member', { projectId, tenantId })
    const provisioned = { person, projectId, tenantId, membershipId }
    ids.provisioning[kind] = await seedHostileProvisioning(sql, name, provisioned)
    await seedMember(sql, person, 'readonly', { projectId, applicationId })
    await sql.query('insert into projects (id, name, slug) values ($1, $2, $3)', [
      randomUUID(),
      name,
      `p-${index}`,
    ])
    // Names of pilets are restricted, but not their descriptions.
    const piletId = await seedPilet(sql, projectId, `pilet-${index}`)
    await sql.query('update pilet_packages set description = $2 where id = $1', [piletId, name])
    ids.contents[kind] = await seedHostileContents(scene, name, { tenantId, applicationId, triggerId })
    ids.pilets[kind] = piletId
    ids.tenants[kind] = tenantId
    ids.applications[kind] = applicationId
    ids.triggers[kind] = triggerId
    ids.people[kind] = person.id
  }
  const pairs = kinds.map((kind) => [hostileNames[kind], hostileNames[kind]])
  await seedSettings(sql, project, 'project', Object.fromEntries(pairs))
  await seedPack(sql, projectId, 'de', Object.fromEntries(pairs))
  return ids
}

/** Replaces the placeholder with 10,000 characters in all responses to the page. */
export const lengthenNames = (page: Page): Promise<unknown> =>
  page.route('**/query', async (route) => {
    const response = await fetchFor(route)
    const body = (await response.text()).replaceAll(placeholder, longText)
    await route.fulfill({ response, body })
  })

/** Lists the harm that hostile names have done to the page. */
export const findHarm = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const harm: string[] = []
    if ('hacked' in globalThis) harm.push('a script ran')
    for (const element of document.querySelectorAll('#root :is(script, img, iframe, object, embed, style)'))
      harm.push(`element ${element.outerHTML.slice(0, 80)}`)
    const scrollers =
      'html, body, .shell-content, .shell-page, .page-main, .side-panel, .dialog-frame, .popover'
    for (const element of document.querySelectorAll(scrollers))
      if (element.scrollWidth > element.clientWidth + 1)
        harm.push(
          `${element.className || element.tagName} is ${element.scrollWidth} px wide, ${element.clientWidth} px visible`,
        )
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const text = node.nodeValue ?? ''
      if (!/[\u202A-\u202E\u2066-\u2069]/.test(text)) continue
      // A block or an isolated element ends the effect of such a character, so it must contain only the name.
      let element = node.parentElement
      while (
        element !== null &&
        getComputedStyle(element).display === 'inline' &&
        getComputedStyle(element).unicodeBidi === 'normal'
      )
        element = element.parentElement
      const isOwnItem = /flex|grid/.test(element === null ? '' : getComputedStyle(element).display)
      if (!isOwnItem && element?.textContent.trim() !== text.trim())
        harm.push(`direction of ${element?.outerHTML.slice(0, 200)}`)
    }
    return harm
  })
