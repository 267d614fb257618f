// What an import does, row by row, as decided by the old install alone: run again, it decides the same. Nothing is written
// here; a plan for people and an import both come from these steps.
import { memberId } from './member-id.ts'
import { planApplications, readGroups } from './plan-applications.ts'
import { planBackends } from './plan-backends.ts'
import { planEndpoints } from './plan-endpoints.ts'
import { planMachineUsers } from './plan-machine-users.ts'
import { planMembers, planTokens } from './plan-people.ts'
import { planPilets } from './plan-pilets.ts'
import { planProject, planTenants } from './plan-projects.ts'
import { planSettings, readCommonSettings } from './plan-settings.ts'
import type { Types } from './project.ts'
import { remainsOf } from './remains.ts'
import type { Source } from './source.ts'
import { type Step, keptAside } from './steps.ts'
import { noneTaken } from './texts.ts'
import type { ViewName } from './views.ts'
import type { AddressRules } from '@manager/manager/rules'
import type { Secrets } from '@manager/manager/sealing'

export type PlanDeps = {
  source: Source
  types: Types
  /** Slugs of projects that are not of this import. */
  takenSlugs: ReadonlySet<string>
  secrets: Secrets
  callbackRules: AddressRules
  problemOfTemplate: (text: string) => string | null
  maxPiletBytes: number
}

/** The steps, in an order in which each row comes after those it refers to. */
export async function* planImport(deps: PlanDeps): AsyncGenerator<Step, void, void> {
  const { source } = deps
  const readers = {
    tenants: source.read('tenants'),
    applications: source.read('applications'),
    settings: source.read('settings'),
    commonSettings: source.read('settings'),
    members: source.read('tenant_members'),
    machineUsers: source.read('machine_users'),
    endpoints: source.read('endpoints'),
    endpointVariants: source.read('endpoints'),
    backends: source.read('backends'),
    pilets: source.read('pilets'),
  }
  yield* planOrphans('tenants', readers.tenants.of(''))
  yield* planOrphans('applications', readers.applications.of(''))
  yield* planOrphans('settings', readers.settings.of(''))
  yield* planOrphans('tenant_members', readers.members.of(''))
  yield* planOrphans('machine_users', readers.machineUsers.of(''))
  yield* planOrphans('endpoints', readers.endpoints.of(''))
  yield* planOrphans('backends', readers.backends.of(''))
  yield* planOrphans('pilets', readers.pilets.of(''))
  const slugs = { ...noneTaken(), names: new Set(deps.takenSlugs) }
  for await (const row of source.projects()) {
    const place = row.id
    const project = yield* planProject(row, slugs)
    yield* planTenants(project, readers.tenants.of(place), deps.types)
    const groups = await readGroups(readers.applications.of(place))
    const common = await readCommonSettings(groups, readers.commonSettings.of(place))
    yield* planApplications(project, common)
    yield* planSettings(project, common, readers.settings.of(place))
    yield* planMembers(project, readers.members.of(place))
    yield* planMachineUsers(project, readers.machineUsers.of(place))
    const variants = { counted: readers.endpointVariants.of(place), planned: readers.endpoints.of(place) }
    yield* planEndpoints(project, variants, deps)
    yield* planBackends(project, readers.backends.of(place), deps)
    yield* planPilets(project, readers.pilets.of(place), deps.maxPiletBytes)
  }
  yield* planTokens(source.read('tokens').of(''))
}

/** What belongs to no project. */
async function* planOrphans(
  view: ViewName,
  rows: AsyncIterable<{ id?: string; tenant_id?: string | null; user_id?: string | null; rank?: number }>,
): AsyncGenerator<Step, void, void> {
  for await (const row of rows) yield keptAside(view, oldIdOf(row), 'orphan', remainsOf(row))
}

const oldIdOf = (row: {
  id?: string
  tenant_id?: string | null
  user_id?: string | null
  rank?: number
}): string => row.id ?? memberId(row)
