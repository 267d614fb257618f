// Walks through the console as principals of the policy matrix. The expectations come from the policy, and the actions
// from the table that the sections use.
import { createToken } from '@manager/harness/credentials.ts'
import { seedMachineUser, seedMember, seedUser } from '@manager/harness/seed.ts'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { seedSpecification } from '../../../manager/test/kit/deployments.ts'
import { seedNotifications } from '../../../manager/test/kit/inbox.ts'
import { seedTrigger } from '../../../manager/test/kit/triggers.ts'
import { readGranted } from '../../../manager/test/policy/granted.ts'
import type { Operation } from '../../../manager/test/policy/operation.ts'
import { operations } from '../../../manager/test/policy/operations.ts'
import type { Principal } from '../../../manager/test/policy/principals.ts'
import { type MatrixWorld, createMatrixWorld, fresh } from '../../../manager/test/policy/world.ts'
import { type Action, type ActionName, actions } from '../../src/app/actions.ts'
import { type Section, projectSections, systemSections } from '../../src/app/sections.ts'
import type { Scene } from './scene.ts'
import { seedFailedCall } from './seed-calls.ts'
import { seedCallable, seedInvitations } from './seed-objects.ts'
import { seedPack } from './seed-pack.ts'
import { seedPilets } from './seed-pilets.ts'
import { seedProvisioning } from './seed-provisioning.ts'
import { seedFailedRun } from './seed-runs.ts'
import { listActionViews } from './views.ts'
import { type Walk, createWalk } from './walk.ts'

const allSections = projectSections.flat()
export const actionNames = Object.keys(actions) as ActionName[]
let scene: Scene
let world: MatrixWorld
let views: string[]

/** Seeds a person for each principal of the policy matrix, and every kind of object. */
export function useRoles(usedScene: Scene): void {
  scene = usedScene
  beforeAll(seedRoles)
}

async function seedRoles(): Promise<void> {
  const { sql } = scene.service
  world = await createMatrixWorld(scene.service)
  const { id: projectId, slug, tenantId, applicationId } = world.own
  const colleague = await seedUser(sql, 'colleague')
  await seedMember(sql, colleague, 'readonly', { projectId })
  await seedMember(sql, colleague, 'member', { projectId, tenantId })
  await seedMember(sql, colleague, 'readonly', { projectId, applicationId })
  // Predefined roles of a tenant cannot be deleted.
  await fresh.role(world, world.own)
  await seedNotifications(sql, { tenantId, applicationId }, Object.values(world.people), [{ title: 'Late' }])
  const { id: machineUserId } = await seedMachineUser(sql, world.own)
  const endpointId = await seedCallable(sql, world.own, machineUserId)
  await seedSpecification(sql, world.own, { scaleToZero: true })
  const packId = await seedPack(sql, projectId, 'de', { 'orders.title': 'Bestellungen' })
  const pilets = await seedPilets(sql, world.own)
  const triggerId = await seedTrigger(sql, world.own)
  const runId = await seedFailedRun({ service: scene.service, project: world.own }, triggerId)
  const callKey = await seedFailedCall(sql, { projectId, endpointId, machineUserId })
  const invitationToken = await seedInvitations(sql, world.own, world.people.administrator)
  views = listActionViews({
    slug,
    invitationToken,
    tenantId,
    applicationId,
    personId: colleague.id,
    machineUserId,
    packId,
    ...pilets,
    endpointId,
    triggerId,
    runId,
    callKey,
    ...(await seedProvisioning(sql, world.own, world.people.administrator)),
  })
}

/** Lists the actions that the open page allows. Disabled controls and read-only grids are omitted. */
const readActions = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const unusable = '[disabled], [data-disabled], [aria-disabled="true"], [aria-readonly="true"]'
    return [...document.querySelectorAll<HTMLElement>('[data-action]')]
      .filter((control) => control.checkVisibility() && !control.matches(unusable))
      .map((control) => control.dataset['action'] ?? '')
  })

/** Returns the section of an address; undefined for pages that every person can open. */
const findSectionOfView = (view: string): Section | undefined =>
  [...allSections, ...systemSections].find(({ path }) => view.replace(/\?.*/, '').endsWith(`/${path}`))
/** Returns the section of a project that an action belongs to; undefined for actions outside of projects. */
const findSectionOfAction = (action: string): Section | undefined =>
  allSections.find(({ path }) => path.replaceAll('-', '') === action.replace(/\..*/, '').toLowerCase())

/** Opens every address, a token, and the inbox. Returns the addresses of the sections in the menu, and the actions. */
async function explore(page: Page, walk: Walk, isShown: (section: Section | undefined) => boolean) {
  const shown = new Set<string>()
  const links = new Set<string>()
  /** Actions of sections that the menu does not show. A person can still type the addresses of these sections. */
  const hidden = new Set<string>()
  for (const view of views) {
    await walk.go(view)
    const found = isShown(findSectionOfView(view)) ? shown : hidden
    for (const action of await readActions(page)) found.add(action)
    const items = await page
      .locator('.side-bar-item')
      .evaluateAll((items) => items.map((item) => item.getAttribute('href') ?? ''))
    for (const link of items) links.add(link.replace(/\?.*$/, '').replace('/console', ''))
  }
  // Each visit creates a token for its person, so the address of the token panel is not known in advance.
  await walk.go('/me?tab=tokens')
  await page.locator('.table-row').first().click()
  await walk.settle()
  for (const action of await readActions(page)) shown.add(action)
  await page.locator('.bell').click()
  await page.locator('.inbox').waitFor()
  await walk.settle()
  for (const action of await readActions(page)) shown.add(action)
  return { shown: [...shown].toSorted(), hidden: [...hidden], links: [...links].toSorted() }
}

/** Lists the fields of the API behind an action, such as `Mutation.createTenant`. */
export function listFields({ mutations, queries = [] }: Action): string[] {
  return [...mutations.map((name) => `Mutation.${name}`), ...queries.map((name) => `Query.${name}`)]
}

/** Sends the requests behind actions that the principal lacks. Returns those that are not refused. */
async function findAccepted(context: BrowserContext, principal: Principal, refused: readonly ActionName[]) {
  const accepted: string[] = []
  const outcomes = new Map<string, string>()
  // The host name resolves only in the browser.
  const { host, port } = new URL(scene.origin)
  const address = `http://127.0.0.1:${port}`
  for (const name of refused) {
    const action: Action = actions[name]
    const fields = listFields(action)
    const calls = operations.filter((call) => fields.includes(call.name) && !call.allow.includes(principal))
    const hasRoute = action.route !== undefined || action.upload !== undefined
    if (calls.length === 0 && !hasRoute) accepted.push(`${name}: the policy refuses no request of it`)
    for (const call of calls) {
      const outcome = outcomes.get(call.name) ?? (await send(call))
      outcomes.set(call.name, outcome)
      if (outcome !== 'forbidden' && outcome !== 'not_found')
        accepted.push(`${name}: ${call.name} ${outcome}`)
    }
    if (action.upload !== undefined) {
      const path = action.upload.replace(':projectId', world.own.id).replace(/:\w+\/:\w+$/, 'refused/1.0.0')
      const file = { name: 'index.js', mimeType: 'text/javascript', buffer: Buffer.from('export {}') }
      const options = { headers: { host }, multipart: { file } }
      const status = (await context.request.post(address + path, options)).status()
      // A caller who may not read a project does not learn that it exists.
      if (status !== 403 && status !== 404) accepted.push(`${name}: ${action.upload} ${status}`)
    }
    if (action.route === undefined) continue
    const { method = 'GET' } = action
    const response = await context.request.fetch(address + action.route, { method, headers: { host } })
    const status = response.status()
    if (status !== 403) accepted.push(`${name}: ${action.route} ${status}`)
  }
  return accepted

  async function send(call: Operation): Promise<string> {
    const query = call.text(world.own, await call.make(world, world.own))
    const response = await context.request.post(`${address}/query`, { headers: { host }, data: { query } })
    const { errors = [] } = (await response.json()) as { errors?: { extensions: { code: string } }[] }
    return errors[0]?.extensions.code ?? 'accepted'
  }
}

/**
 * Walks through the console as each principal. Compares the sections and actions with the policy, and sends the
 * requests that the policy refuses. Returns the principals.
 */
export async function walkAs(principals: readonly Principal[]): Promise<readonly Principal[]> {
  const visit = await scene.visit(scene.admin)
  const { page, context } = visit
  const walk = createWalk(visit)
  for (const principal of principals) {
    // The requests of the previous principal can delete the specification and register backends, so that nothing could be
    // woken.
    await seedSpecification(scene.service.sql, world.own, { scaleToZero: true })
    await scene.service.sql.query('delete from backend_registrations')
    const granted = await readGranted(world, principal)
    const person = world.people[principal]
    const isShown = (section: Section | undefined): boolean =>
      section === undefined ||
      (systemSections.includes(section) ? granted.system : granted.project).includes(section.permission)
    const isGranted = (name: ActionName): boolean =>
      (granted[actions[name].on] as readonly string[]).includes(actions[name].permission)

    const { token } = await createToken(scene.service, person)
    await context.setExtraHTTPHeaders({ authorization: `Bearer ${token}` })
    await visit.open('/')
    const { shown, hidden, links } = await explore(page, walk, isShown)

    const inbox = await scene.service.query(person, '{ page: myNotifications { nodes { id } } }')
    const hasNotifications = inbox.data.page.nodes.length > 0
    const expected = actionNames
      .filter((name) => isGranted(name) && isShown(findSectionOfAction(name)))
      .filter((name) => name !== 'inbox.markRead' || hasNotifications)
    expect([principal, shown]).toEqual([principal, expected.toSorted()])
    // A person who types the address of another section sees only actions that the policy grants.
    expect([principal, hidden.filter((name) => !isGranted(name as ActionName))]).toEqual([principal, []])

    const expectedLinks = [
      '/',
      '/me',
      ...systemSections.filter(isShown).map(({ path }) => `/system/${path}`),
      ...allSections.filter(isShown).map(({ path }) => `/p/${world.own.slug}/${path}`),
    ]
    expect([principal, links]).toEqual([principal, expectedLinks.toSorted()])

    const refused = actionNames.filter((name) => !isGranted(name))
    expect([principal, await findAccepted(context, principal, refused)]).toEqual([principal, []])
  }
  expect(visit.complaints.filter((line) => !line.includes('Failed to load resource'))).toEqual([])
  return principals
}
