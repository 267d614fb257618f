// Plans endpoints and the machine users that may call them.
import type { Secrets } from '@manager/manager/sealing'
import { type AuditEvent, abbreviate } from '@manager/manager/storage'
import {
  type Variant,
  type Variants,
  callersOf,
  lacksSecret,
  problemOfEndpoint,
  readVariants,
  textsOf,
  variantOf,
} from './endpoint-variants.ts'
import { derivedId, keptId } from './ids.ts'
import { createdAt } from './plan-projects.ts'
import type { CloneTarget, Project } from './project.ts'
import { remainsOf } from './remains.ts'
import type { OldEndpoint } from './rows.ts'
import type { RuleName } from './rules.ts'
import { type NewRow, type Step, keptAside, creationEvent, merged, moved } from './steps.ts'
import { fitName, fitText } from './texts.ts'

type Deps = { secrets: Secrets; problemOfTemplate: (text: string) => string | null }
type Rows = { counted: AsyncIterable<OldEndpoint>; planned: AsyncIterable<OldEndpoint> }
const maxDescriptionLength = 2_000
const maxPathLength = 500

/** Reads the endpoints of a project twice: first to find the variants, then to plan them. */
export async function* planEndpoints(
  project: Project,
  rows: Rows,
  deps: Deps,
): AsyncGenerator<Step, void, void> {
  const variants = await readVariants(project, rows.counted, deps.problemOfTemplate)
  for await (const row of rows.planned) {
    const clone = project.clones.get(row.application_id ?? '')
    const problem = clone === undefined ? null : problemOfEndpoint(row, deps.problemOfTemplate)
    if (clone === undefined) yield keptAside('endpoints', row.id, 'orphan', remainsOf(row))
    else if (problem !== null)
      yield keptAside('endpoints', row.id, 'endpoint-refused', { problem, ...remainsOf(row) })
    else yield planOne(project, { row, clone, variants, secrets: deps.secrets })
  }
}

type Planned = { row: OldEndpoint; clone: CloneTarget; variants: Variants; secrets: Secrets }

function planOne(project: Project, { row, clone, variants, secrets }: Planned): Step {
  const variant = variantOf(variants, clone.applicationId, row, clone.tenant?.slug ?? 'template')
  const path = variant.path ?? ''
  if (path.length > maxPathLength)
    return keptAside('endpoints', row.id, 'endpoint-refused', {
      problem: 'the path of the variant is too long',
      ...remainsOf(row),
    })
  const id = keptId('endpoints', variant.first)
  const { unknown, rows, events } = planAccess(project, { row, variant, endpointId: id })
  const isRepresented = variant.first !== row.id
  const texts = {
    name: fitName(row.name, row.consume_url ?? row.id),
    description: fitText(row.description, maxDescriptionLength),
  }
  const isFitted = texts.name !== row.name || texts.description !== (row.description ?? '')
  const rules: RuleName[] = [
    ...(path === row.consume_url ? [] : (['endpoint-variant'] as const)),
    ...(variant.texts !== textsOf(row) || variant.logLevel !== row.log_level
      ? (['endpoint-texts'] as const)
      : []),
    ...(isFitted && !isRepresented ? (['name-fitted'] as const) : []),
    ...(lacksSecret(row) ? (['endpoint-no-secret'] as const) : []),
    ...(unknown > 0 ? (['caller-unknown'] as const) : []),
  ]
  const { name, description, log_level: logLevel, enabled } = row
  const detail = {
    path,
    ...(unknown > 0 && { unknownCallers: unknown }),
    was: { name, description, logLevel, enabled },
  }
  if (isRepresented) return merged('endpoints', row.id, id, { rules, detail, rows, events })
  const endpoint = endpointRow(project, { row, clone, variant, texts, secrets, id })
  return moved('endpoints', row.id, id, {
    rules,
    detail,
    rows: [endpoint.row, ...rows],
    events: [endpoint.event, ...events],
  })
}

type EndpointParts = Omit<Planned, 'variants'> & {
  variant: Variant
  texts: { name: string; description: string }
  id: string
}

function endpointRow(
  project: Project,
  { row, clone, variant, texts, secrets, id }: EndpointParts,
): { row: NewRow; event: AuditEvent } {
  const sealed = (text: string | null, column: string): string | null =>
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
        auth_password: sealed(row.auth_password, 'auth_password'),
        auth_token: sealed(row.auth_token, 'auth_token'),
        input_message_type,
        output_message_type,
        transformation_template: template,
        log_level: variant.logLevel,
        ...createdAt(row),
      },
    },
    event: creationEvent('endpoint', { projectId: project.id, id, name: texts.name }, fields, {
      oldId: row.id,
    }),
  }
}

/** Plans the rows of the callers, each only once. */
function planAccess(
  project: Project,
  { row, variant, endpointId }: { row: OldEndpoint; variant: Variant; endpointId: string },
): { unknown: number; rows: NewRow[]; events: AuditEvent[] } {
  const { known, unknown } = callersOf(project, row)
  const [rows, events]: [NewRow[], AuditEvent[]] = [[], []]
  for (const { id: machineUserId } of known) {
    if (variant.granted.has(machineUserId)) continue
    variant.granted.add(machineUserId)
    const id = derivedId('machine_user2endpoints', endpointId, machineUserId)
    const enabled = variant.callers.get(machineUserId) === true
    rows.push({
      table: 'machine_user2endpoints',
      values: {
        id,
        project_id: project.id,
        machine_user_id: machineUserId,
        endpoint_id: endpointId,
        enabled,
      },
    })
    events.push(
      creationEvent(
        'machineUser2Endpoint',
        { projectId: project.id, id, name: id },
        { machineUserId, endpointId, enabled },
      ),
    )
  }
  return { unknown, rows, events }
}
