// Generates old installations from a seed. They are small, and contain everything that an import may
// encounter.
import { buildInstall } from './builder.ts'
import {
  oddConfig,
  oddNames,
  oddRoles,
  oddSlugs,
  oddUserIds,
  someBackend,
  someFrontend,
} from './odd-texts.ts'
import type { OldApplication, OldInstall, OldProject, OldTenant } from './old-rows.ts'
import { type Made, addCallers } from './random-callers.ts'

export type RandomOptions = {
  seed: number
  upstream?: string
  /** The maximum number of objects of each kind. */
  sizes?: { projects?: number; tenants?: number; applications?: number; people?: number }
  /** The proportion of rows that violate a rule. */
  odd?: number
}

const types = ['dev', 'development', 'qas', 'qa', 'test', 'staging', 'run', 'prod', 'production', 'live']

export function randomInstall({ seed, upstream, sizes = {}, odd = 0.08 }: RandomOptions): OldInstall {
  const idType = (['uuid', 'bigint', 'text'] as const)[seed % 3] as OldInstall['idType']
  const built = buildInstall({ seed, idType, ...(upstream === undefined ? {} : { upstream }) })
  const { random, install } = built
  const people = Array.from({ length: random.int(2, sizes.people ?? 6) }, () => random.uuid())
  const made: Made = { ...built, odd, people, tenants: [], clones: [] }
  const projects = random.int(1, sizes.projects ?? 3)
  for (let nr = 0; nr < projects; nr++) {
    const project = built.project(oddTexts(made))
    // The first project has most of the tenants.
    const most = nr === 0 ? (sizes.tenants ?? 5) : 2
    const tenants = Array.from({ length: random.int(1, most) }, () => addTenant(made, project))
    for (let left = random.int(1, sizes.applications ?? 4); left > 0; left--)
      addClones(made, project, tenants)
  }
  addOrphans(made)
  addMembers(made)
  addSettings(made)
  addCallers(made)
  return install
}

const oddTexts = ({ random, odd }: Made): { name?: string; slug?: string } => ({
  ...(random.chance(odd) ? { name: random.pick(oddNames) } : {}),
  ...(random.chance(odd) ? { slug: random.pick(oddSlugs) } : {}),
})

function addTenant(made: Made, project: OldProject): OldTenant {
  const { random, odd, install } = made
  const isOdd = random.chance(odd * 2)
  const type = isOdd ? random.pick(['Kunden', 'demo']) : random.pick(types)
  if (isOdd) install.types[type] = 'qas'
  const mode = random.chance(odd) ? 'odd' : random.pick(['shared', 'dedicated'])
  const tenant = made.tenant(project, { type, deployment_mode: mode, ...oddTexts(made) })
  made.tenants.push(tenant)
  return tenant
}

/**
 * Adds an application to a project in the form in which an old installation stored it: as one clone in each of several
 * tenants.
 */
function addClones(made: Made, project: OldProject, tenants: readonly OldTenant[]): void {
  const { random, odd } = made
  const how = random.pick(['slug', 'star', 'chain', 'template', 'missing', 'cycle'] as const)
  const slug = random.pick(['shop', 'desk', 'news', `only-${random.text(4).toLowerCase()}`])
  const clones: OldApplication[] = []
  const template = how === 'template' ? made.application(null, { project_id: project.id, slug }) : null
  const lost = made.newId()
  for (const tenant of [...random.some(tenants, 0.8), ...random.some(tenants, odd)]) {
    const links = {
      star: clones[0],
      chain: clones.at(-1),
      template,
      slug: null,
      missing: null,
      cycle: clones.at(-1),
    }
    const clone_of = how === 'missing' ? lost : (links[how]?.id ?? null)
    clones.push(
      made.application(tenant, {
        clone_of,
        slug,
        enabled: random.chance(0.85),
        ...(random.chance(0.3) ? { name: `Another ${random.text(3)}`, description: 'described' } : {}),
        ...(random.chance(0.1) ? { slug: `other-${random.text(3).toLowerCase()}` } : {}),
        ...oddTexts(made),
      }),
    )
  }
  const first = clones[0]
  if (how === 'cycle' && first !== undefined) first.clone_of = clones.at(-1)?.id ?? null
  made.clones.push(...clones)
}

/** Adds rows whose parents are missing, at every level. */
function addOrphans(made: Made): void {
  const { random, odd } = made
  const lost = { id: made.newId() }
  if (random.chance(odd * 3)) {
    const tenant = made.tenant(lost)
    made.tenants.push(tenant)
    made.clones.push(made.application(tenant, { slug: 'shop' }))
  }
  if (random.chance(odd * 3)) made.clones.push(made.application(lost, { slug: 'desk' }))
  if (random.chance(odd)) made.application(null, { project_id: lost.id })
  if (random.chance(odd * 3)) made.member(lost, random.pick(made.people))
  if (random.chance(odd * 3)) made.bearer(lost)
  if (random.chance(odd * 3)) made.setting('tenant', lost, { DefaultTheme: 'lost' })
  if (random.chance(odd * 3)) made.endpoint(lost)
  if (random.chance(odd * 3)) made.pilet(lost)
}

function addMembers(made: Made): void {
  const { random, odd, people } = made
  for (const tenant of made.tenants)
    for (const person of random.some(people, 0.5)) {
      const role = random.pick(['owner', 'maintainer', 'member', 'developer', 'readonly'])
      made.member(tenant, person, random.chance(odd) ? random.pick(oddRoles) : role, {
        name: random.chance(odd) ? random.pick(oddNames) : `Person ${random.text(4)}`,
      })
      if (random.chance(odd)) made.member(tenant, person, role === 'owner' ? 'member' : 'owner')
      if (random.chance(odd)) made.member(tenant, random.pick(oddUserIds), 'owner')
    }
}

function addSettings(made: Made): void {
  const { random, odd, install } = made
  const config = (some: Record<string, unknown>): unknown =>
    random.chance(odd) ? oddConfig(random, some) : some
  const add = (
    owner: 'project' | 'tenant' | 'application',
    rows: readonly { id: string }[],
    share: number,
  ) => {
    for (const row of rows)
      if (random.chance(share))
        made.setting(owner, row, config(someFrontend(random)), config(someBackend(random)))
  }
  add('project', install.projects, 0.8)
  add('tenant', install.tenants, 0.7)
  // Clones of one application often have the same settings.
  const common = { frontend: someFrontend(random), backend: someBackend(random) }
  for (const clone of install.applications)
    if (random.chance(0.4)) made.setting('application', clone, common.frontend, common.backend)
    else add('application', [clone], 0.8)
}
