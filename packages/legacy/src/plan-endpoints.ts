// Plans endpoints and the machine users that may call them.
import type { Secrets } from '@manager/manager/sealing'
import { type AuditEvent, abbreviate } from '@manager/manager/storage'
import {
  type Variant,
  type Variants,
  findCallers,
  lacksSecret,
  findEndpointProblem,
  readVariants,
  formatTexts,
  findVariant,
} from './endpoint-variants.ts'
import { deriveId, toNewId } from './ids.ts'
import { pickCreatedAt } from './plan-projects.ts'
import type { CloneTarget, Project } from './project.ts'
import { getRemainder } from './remains.ts'
import type { OldEndpoint } from './rows.ts'
import type { RuleName } from './rules.ts'
import {
  type NewRow,
  type Step,
  createSkippedStep,
  createCreationEvent,
  createMergedStep,
  createMovedStep,
} from './steps.ts'
import { fitName, fitText } from './texts.ts'

type Deps = { secrets: Secrets; findTemplateProblem: (text: string) => string | null }
type Rows = { firstPass: AsyncIterable<OldEndpoint>; secondPass: AsyncIterable<OldEndpoint> }
const maxDescriptionLength = 2_000
const maxPathLength = 500

/** Reads the endpoints of a project twice: first to find the variants, then to plan them. */
export async function* planEndpoints(
  project: Project,
  rows: Rows,
  deps: Deps,
): AsyncGenerator<Step, void, void> {
  const variants = await readVariants(project, rows.firstPass, deps.findTemplateProblem)
  for await (const row of rows.secondPass) {
    const clone = project.clones.get(row.application_id ?? '')
    const problem = clone === undefined ? null : findEndpointProblem(row, deps.findTemplateProblem)
    if (clone === undefined) yield createSkippedStep('endpoints', row.id, 'orphan', getRemainder(row))
    else if (problem !== null)
      yield createSkippedStep('endpoints', row.id, 'endpoint-refused', { problem, ...getRemainder(row) })
    else yield planEndpoint(project, { row, clone, variants, secrets: deps.secrets })
  }
}

type PlannedEndpoint = { row: OldEndpoint; clone: CloneTarget; variants: Variants; secrets: Secrets }

function planEndpoint(project: Project, { row, clone, variants, secrets }: PlannedEndpoint): Step {
  const variant = findVariant(variants, clone.applicationId, row, clone.tenant?.slug ?? 'template')
  const path = variant.path ?? ''
  if (path.length > maxPathLength)
    return createSkippedStep('endpoints', row.id, 'endpoint-refused', {
      problem: `the path of the variant is longer than ${maxPathLength} characters`,
      ...getRemainder(row),
    })
  const id = toNewId('endpoints', variant.firstId)
  const { unknownCount, rows, events } = planAccess(project, { row, variant, endpointId: id })
  const isRepresented = variant.firstId !== row.id
  const texts = {
    name: fitName(row.name, row.consume_url ?? row.id),
    description: fitText(row.description, maxDescriptionLength),
  }
  const isAdjusted = texts.name !== row.name || texts.description !== (row.description ?? '')
  const rules: RuleName[] = [
    ...(path === row.consume_url ? [] : (['endpoint-variant'] as const)),
    ...(variant.texts !== formatTexts(row) || variant.logLevel !== row.log_level
      ? (['endpoint-texts'] as const)
      : []),
    ...(isAdjusted && !isRepresented ? (['name-fitted'] as const) : []),
    ...(lacksSecret(row) ? (['endpoint-no-secret'] as const) : []),
    ...(unknownCount > 0 ? (['caller-unknown'] as const) : []),
  ]
  const { name, description, log_level: logLevel, enabled } = row
  const detail = {
    path,
    ...(unknownCount > 0 && { unknownCallers: unknownCount }),
    was: { name, description, logLevel, enabled },
  }
  if (isRepresented) return createMergedStep('endpoints', row.id, id, { rules, detail, rows, events })
  const endpoint = createEndpointRow(project, { row, clone, variant, texts, secrets, id })
  return createMovedStep('endpoints', row.id, id, {
    rules,
    detail,
    rows: [endpoint.row, ...rows],
    events: [endpoint.event, ...events],
  })
}

type EndpointParts = Omit<PlannedEndpoint, 'variants'> & {
  variant: Variant
  texts: { name: string; description: string }
  id: string
}

function createEndpointRow(
  project: Project,
  { row, clone, variant, texts, secrets, id }: EndpointParts,
): { row: NewRow; event: AuditEvent } {
  const sealColumn = (text: string | null, column: string): string | null =>
    (text ?? '') === ''
      ? null
      : `\\x${secrets.seal(text ?? '', { table: 'endpoints', column, id }).toString('hex')}`
  const { input_message_type, output_message_type, auth_type } = row
  const [url, template] = [row.url === '' ? null : row.url, row.transformation_template ?? '']
  const applicationId = clone.applicationId
  const fields = {
    applicationId,
    ...texts,
    enabled: variant.isEnabled,
    consumeUrl: variant.path,
    url,
    authType: auth_type,
    authUsername: row.auth_username ?? '',
    inputMessageType: input_message_type,
    outputMessageType: output_message_type,
    transformationTemplate: abbreviate(template),
    logLevel: variant.logLevel,
  }
  return {
    row: {
      table: 'endpoints',
      values: {
        id,
        project_id: project.id,
        application_id: applicationId,
        ...texts,
        enabled: variant.isEnabled,
        consume_url: variant.path,
        url,
        auth_type,
        auth_username: row.auth_username ?? '',
        auth_password: sealColumn(row.auth_password, 'auth_password'),
        auth_token: sealColumn(row.auth_token, 'auth_token'),
        input_message_type,
        output_message_type,
        transformation_template: template,
        log_level: variant.logLevel,
        ...pickCreatedAt(row),
      },
    },
    event: createCreationEvent('endpoint', { projectId: project.id, id, name: texts.name }, fields, {
      oldId: row.id,
    }),
  }
}

/** Plans the access rows of the callers. Each caller gets only one row. */
function planAccess(
  project: Project,
  { row, variant, endpointId }: { row: OldEndpoint; variant: Variant; endpointId: string },
): { unknownCount: number; rows: NewRow[]; events: AuditEvent[] } {
  const { knownCallers, unknownCount } = findCallers(project, row)
  const [rows, events]: [NewRow[], AuditEvent[]] = [[], []]
  for (const { id: machineUserId } of knownCallers) {
    if (variant.grantedIds.has(machineUserId)) continue
    variant.grantedIds.add(machineUserId)
    const id = deriveId('machine_user2endpoints', endpointId, machineUserId)
    const isCallerEnabled = variant.callers.get(machineUserId) === true
    rows.push({
      table: 'machine_user2endpoints',
      values: {
        id,
        project_id: project.id,
        machine_user_id: machineUserId,
        endpoint_id: endpointId,
        enabled: isCallerEnabled,
      },
    })
    events.push(
      createCreationEvent(
        'machineUser2Endpoint',
        { projectId: project.id, id, name: id },
        { machineUserId, endpointId, enabled: isCallerEnabled },
      ),
    )
  }
  return { unknownCount, rows, events }
}
