// How long texts may become, and what a response pays for them. Lists read their rows before they show them: so a column
// that may hold much is declared @large and charged before it is read; a shorter one is charged as it is shown.
import { type DirectiveNode, Kind, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { readAllSdl } from '../tools/sdl.ts'
import { useProject } from './kit/project.ts'

const { service } = useProject()

type Weight =
  /** The field or type that is declared @large. */
  | { large: string }
  /** Charged as it is shown; the database holds it to so many characters. */
  | { shown: number }
  /** Charged as it is shown; who writes it bounds it. */
  | { boundedBy: string }
  | 'never shown'

/** The weight of every column that may hold more than 200 characters. */
const weights: Record<string, Weight> = {
  'access_attestation_entries.justification': 'never shown',
  'access_attestations.comment': 'never shown',
  'access_entry_attestations.decision': 'never shown',
  'applications.description': { shown: 2_000 },
  'audit_checkpoint_copies.sink': 'never shown',
  'audit_checkpoints.heads': 'never shown',
  'audit_checkpoints.key_id': 'never shown',
  'audit_logs.action': { boundedBy: 'words of the code' },
  'audit_logs.changes': { boundedBy: 'abbreviate.ts, and settings-event.pure.ts for pairs' },
  'audit_logs.description': { boundedBy: 'a sentence of the code with a name or slug in it' },
  'audit_logs.entity_id': { boundedBy: 'ids' },
  'audit_logs.entity_type': { boundedBy: 'words of the code' },
  'audit_logs.ip_address': { boundedBy: 'client-address.ts' },
  'audit_logs.metadata': { boundedBy: 'ids and words of the code' },
  'audit_logs.principal_id': { boundedBy: 'ids and names of jobs' },
  'audit_logs.user_agent': { boundedBy: 'append.ts' },
  'audit_verification.problem': 'never shown',
  'audit_verified_chains.reason': 'never shown',
  'backend_registrations.callback_url': 'never shown',
  'blob_chunks.sha256': 'never shown',
  'cli_logins.user_agent': 'never shown',
  'deployment_specifications.image': { shown: 500 },
  'deployment_wakes.failure': 'never shown',
  'endpoints.consume_url': { shown: 500 },
  'endpoints.description': { shown: 2_000 },
  'endpoints.transformation_template': { large: 'Endpoint.transformationTemplate' },
  'endpoints.url': { shown: 500 },
  'environments.display_name': { boundedBy: 'words of the code' },
  'esb_audit_logs.failure': { boundedBy: 'texts of the code' },
  'esb_audit_logs.method': { boundedBy: 'the HTTP parser' },
  'esb_audit_logs.path': { boundedBy: 'a request line of at most 16 KiB' },
  'esb_audit_logs.request_body': { large: 'ESBAuditLog.requestBody' },
  'esb_audit_logs.request_headers': { large: 'ESBHeader' },
  'esb_audit_logs.request_id': { boundedBy: 'the form of request ids' },
  'esb_audit_logs.response_body': { large: 'ESBAuditLog.responseBody' },
  'esb_audit_logs.response_headers': { large: 'ESBHeader' },
  'esb_audit_logs.source_ip': { boundedBy: 'client-address.ts' },
  'esb_audit_logs.target_url': { boundedBy: 'endpoints.url and a request line of at most 16 KiB' },
  'language_packs.content': { large: 'KeyValuePair' },
  'legacy_imports.source': 'never shown',
  'legacy_imports.types': 'never shown',
  'legacy_rows.detail': 'never shown',
  'legacy_rows.old_id': 'never shown',
  'legacy_rows.rules': 'never shown',
  'legacy_rows.view': 'never shown',
  'machine_users.password_hash': 'never shown',
  'machine_users.token_prefix': { boundedBy: 'machine_users.username' },
  'notification_keys.request_id': 'never shown',
  'notification_recipients.type': 'never shown',
  'notifications.body': 'never shown',
  'notifications.data': 'never shown',
  'notifications.link': 'never shown',
  'personal_access_tokens.hash': 'never shown',
  'pgmigrations.name': 'never shown',
  'pilet_packages.description': { shown: 1_000 },
  'pilet_packages.hash': { boundedBy: 'blobs.sha256' },
  'pilet_packages.key_id': 'never shown',
  'pilet_packages.name': { shown: 214 },
  'pilet_packages.precedence': 'never shown',
  'pilet_packages.statement_key_id': 'never shown',
  'pilet_packages.version': { shown: 256 },
  'project_version_moves.mark': 'never shown',
  'project_version_moves.table_name': 'never shown',
  'project_versions.versions': 'never shown',
  'queued_jobs.data': 'never shown',
  'queued_jobs.group_key': 'never shown',
  'queued_jobs.owner': 'never shown',
  'queued_jobs.queue': 'never shown',
  'schema_compatibility.oldest_migration': 'never shown',
  'settings.backend_comms_enabled': 'never shown',
  'settings.backend_module_config': { large: 'BackendModuleConfig' },
  'settings.frontend_comms_enabled': 'never shown',
  'settings.frontend_module_config': { large: 'FrontendModuleConfig' },
  'trigger_runs.cron_expression': { boundedBy: 'triggers.cron_expression' },
  'trigger_runs.failure': { boundedBy: 'texts of the code' },
  'trigger_runs.run_key': { boundedBy: 'triggers.run_key' },
  'trigger_runs.trigger_name': { boundedBy: 'triggers.name' },
  'triggers.description': { shown: 2_000 },
  'user2tenants.role_name': { boundedBy: 'tenant_role_definitions.name' },
  'users.external_email': { shown: 320 },
  'users.external_username': { shown: 320 },
}

/** Columns with text in them, and the checks of their tables; partitions have those of their parent. */
const columnsQuery = `
  select c.relname || '.' || a.attname as name, a.attname as column,
    array(select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid and k.contype = 'c'
      and a.attnum = any (k.conkey)) as checks
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and a.atttypid in ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype, 'text[]'::regtype)
  order by 1`

/** How many characters the checks let a column hold. */
function lengthBy(column: string, checks: readonly string[]): number {
  const limits = checks.flatMap((check) => {
    const length = new RegExp(String.raw`(?:char|octet)_length\(${column}\) (?:<=|=) (\d+)`).exec(check)?.[1]
    if (length !== undefined) return [Number(length)]
    // A closed list of words, or a form: none of ours is longer.
    const isClosed = new RegExp(String.raw`\(${column} (?:= ANY|<@|~ '\^.*\$'|= \()`).test(check)
    return isClosed && !check.includes('*$') && !check.includes('+$') ? [maxLength] : []
  })
  return Math.min(Infinity, ...limits)
}
const maxLength = 200

const isLarge = (directives: readonly DirectiveNode[] | undefined): boolean =>
  directives?.some(({ name }) => name.value === 'large') === true

/** Types, and fields as `Type.field`, that are declared @large. */
const declaredLarge = (): Set<string> =>
  new Set(
    parse(readAllSdl()).definitions.flatMap((node) =>
      node.kind !== Kind.OBJECT_TYPE_DEFINITION
        ? []
        : [
            ...(isLarge(node.directives) ? [node.name.value] : []),
            ...(node.fields ?? [])
              .filter((field) => isLarge(field.directives))
              .map((field) => `${node.name.value}.${field.name.value}`),
          ],
    ),
  )

describe('a text column', () => {
  test('that may hold more than 200 characters has a weight', async () => {
    const { rows } = await service.sql.query<{ name: string; column: string; checks: string[] }>(columnsQuery)
    const long = rows
      .map(({ name, column, checks }) => ({ name, length: lengthBy(column, checks) }))
      .filter(({ length }) => length > maxLength)
    // A new one: bound it by a constraint, and say here what it weighs; above some thousand characters, declare it @large.
    expect(long.map(({ name }) => name)).toEqual(Object.keys(weights).toSorted())
    const large = declaredLarge()
    const problems = long.filter(({ name, length }) => {
      const weight = weights[name] as Weight
      if (weight === 'never shown' || 'boundedBy' in weight) return false
      return 'shown' in weight ? length !== weight.shown : !large.has(weight.large)
    })
    expect(problems).toEqual([])
  })

  test('without a check counts as long, one with a check by what it says', () => {
    expect(lengthBy('a', [])).toBe(Infinity)
    expect(lengthBy('a', ['CHECK ((char_length(a) <= 500))'])).toBe(500)
    expect(lengthBy('a', ['CHECK ((octet_length(a) <= 65536))'])).toBe(65_536)
    expect(lengthBy('a', ['CHECK ((char_length(b) <= 100))'])).toBe(Infinity)
    expect(lengthBy('a', ["CHECK ((a = ANY (ARRAY['x'::text, 'y'::text])))"])).toBe(200)
    expect(lengthBy('a', ["CHECK ((a ~ '^[a-z]{1,9}$'::text))"])).toBe(200)
    expect(lengthBy('a', ["CHECK ((a ~ '^/\\\\S*$'::text))"])).toBe(Infinity)
  })
})
