// Plans the import row by row. The plan depends only on the old installation, so a repeated run makes the same plan.
// The code writes nothing: both the printed plan and the import use the steps.
import { formatMemberId } from './member-id.ts'
import { planApplications, readGroups } from './plan-applications.ts'
import { planBackends } from './plan-backends.ts'
import { planEndpoints } from './plan-endpoints.ts'
import { planMachineUsers } from './plan-machine-users.ts'
import { planMembers, planTokens } from './plan-people.ts'
import { planPilets } from './plan-pilets.ts'
import { planProject, planTenants } from './plan-projects.ts'
import { planSettings, readCommonSettings } from './plan-settings.ts'
import type { TypeEnvironments } from './project.ts'
import { getRemainder } from './remains.ts'
import type { Source } from './source.ts'
import { type Step, createSkippedStep } from './steps.ts'
import { createNamePool } from './texts.ts'
import type { ViewName } from './views.ts'
import type { AddressRules } from '@manager/manager/rules'
import type { Secrets } from '@manager/manager/sealing'

export type PlanDeps = {
  source: Source
  types: TypeEnvironments
  /** Slugs of projects that are not part of this import. */
  takenSlugs: ReadonlySet<string>
  secrets: Secrets
  callbackRules: AddressRules
  findTemplateProblem: (text: string) => string | null
  maxPiletBytes: number
}

/** Yields the steps. Each row follows the rows that it refers to. */
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
  const slugs = { ...createNamePool(), names: new Set(deps.takenSlugs) }
  for await (const row of source.projects()) {
    const projectId = row.id
    const project = yield* planProject(row, slugs)
    yield* planTenants(project, readers.tenants.of(projectId), deps.types)
    const groups = await readGroups(readers.applications.of(projectId))
    const common = await readCommonSettings(groups, readers.commonSettings.of(projectId))
    yield* planApplications(project, common)
    yield* planSettings(project, common, readers.settings.of(projectId))
    yield* planMembers(project, readers.members.of(projectId))
    yield* planMachineUsers(project, readers.machineUsers.of(projectId))
    const variants = {
      firstPass: readers.endpointVariants.of(projectId),
      secondPass: readers.endpoints.of(projectId),
    }
    yield* planEndpoints(project, variants, deps)
    yield* planBackends(project, readers.backends.of(projectId), deps)
    yield* planPilets(project, readers.pilets.of(projectId), deps.maxPiletBytes)
  }
  yield* planTokens(source.read('tokens').of(''))
}

/** Skips rows that belong to no project, and records them. */
async function* planOrphans(
  view: ViewName,
  rows: AsyncIterable<{ id?: string; tenant_id?: string | null; user_id?: string | null; rank?: number }>,
): AsyncGenerator<Step, void, void> {
  for await (const row of rows) yield createSkippedStep(view, getOldId(row), 'orphan', getRemainder(row))
}

const getOldId = (row: {
  id?: string
  tenant_id?: string | null
  user_id?: string | null
  rank?: number
}): string => row.id ?? formatMemberId(row)
