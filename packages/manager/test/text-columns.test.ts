// Tests the length limits of text columns, and their cost in a response. Lists read all rows before they
// serialize them. A column with long values is therefore declared @large and charged before it is read. A
// column with shorter values is charged when it is serialized.
import { type DirectiveNode, Kind, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { readAllSdl } from '../tools/sdl.ts'
import { useProject } from './kit/project.ts'

const { service } = useProject()

type Weight =
  /** The name of the field or type that is declared @large. */
  | { large: string }
  /** The text is charged when it is serialized, and the database limits its length to this number of characters. */
  | { charged: number }
  /** The text is charged when it is serialized, and the writer limits its length. */
  | { boundedBy: string }
  | 'never returned'

/** How each column that may contain more than 200 characters is charged. */
const weights: Record<string, Weight> = {
  'access_attestation_entries.justification': 'never returned',
  'access_attestations.comment': 'never returned',
  'access_entry_attestations.decision': 'never returned',
  'applications.description': { charged: 2_000 },
  'audit_checkpoint_copies.sink': 'never returned',
  'audit_checkpoints.heads': 'never returned',
  'audit_checkpoints.key_id': 'never returned',
  'audit_logs.action': { boundedBy: 'constants in the code' },
  'audit_logs.changes': { boundedBy: 'abbreviate.ts, and settings-event.pure.ts for pairs' },
  'audit_logs.description': { boundedBy: 'a constant sentence with a name or slug in it' },
  'audit_logs.entity_id': { boundedBy: 'ids' },
  'audit_logs.entity_type': { boundedBy: 'constants in the code' },
  'audit_logs.ip_address': { boundedBy: 'client-address.ts' },
  'audit_logs.metadata': { boundedBy: 'ids, names of SCIM tokens and constants in the code' },
  'audit_logs.principal_id': { boundedBy: 'ids and job names' },
  'audit_logs.user_agent': { boundedBy: 'append.ts' },
  'audit_verification.problem': 'never returned',
  'audit_verified_chains.reason': { boundedBy: 'constants in the code' },
  'backend_registrations.callback_url': {
    boundedBy: 'an origin, which consists of a scheme, a host and a port',
  },
  'blob_chunks.sha256': 'never returned',
  'cli_logins.user_agent': 'never returned',
  'deployment_specifications.image': { charged: 500 },
  'deployment_wakes.failure': 'never returned',
  'endpoints.consume_url': { charged: 500 },
  'endpoints.description': { charged: 2_000 },
  'endpoints.transformation_template': { large: 'Endpoint.transformationTemplate' },
  'endpoints.url': { charged: 500 },
  'environments.display_name': { boundedBy: 'constants in the code' },
  'esb_audit_logs.failure': { boundedBy: 'constants in the code' },
  'esb_audit_logs.method': { boundedBy: 'the HTTP parser' },
  'esb_audit_logs.path': { boundedBy: 'a request line of at most 16 KiB' },
  'esb_audit_logs.request_body': { large: 'ESBAuditLog.requestBody' },
  'esb_audit_logs.request_headers': { large: 'ESBHeader' },
  'esb_audit_logs.request_id': { boundedBy: 'the format of request ids' },
  'esb_audit_logs.response_body': { large: 'ESBAuditLog.responseBody' },
  'esb_audit_logs.response_headers': { large: 'ESBHeader' },
  'esb_audit_logs.source_ip': { boundedBy: 'client-address.ts' },
  'esb_audit_logs.target_url': { boundedBy: 'endpoints.url and a request line of at most 16 KiB' },
  'invitations.email': { charged: 320 },
  'language_packs.content': { large: 'KeyValuePair' },
  'legacy_imports.source': 'never returned',
  'legacy_imports.types': 'never returned',
  'legacy_rows.detail': 'never returned',
  'legacy_rows.old_id': 'never returned',
  'legacy_rows.rules': 'never returned',
  'legacy_rows.view': 'never returned',
  'machine_users.password_hash': 'never returned',
  'machine_users.token_prefix': { boundedBy: 'machine_users.username' },
  'notification_keys.request_id': 'never returned',
  'notification_recipients.type': { boundedBy: 'notifications.type' },
  'notifications.body': { large: 'Notification.body' },
  'notifications.data': { large: 'Notification.data' },
  'notifications.link': { charged: 2_000 },
  'personal_access_tokens.hash': 'never returned',
  'pgmigrations.name': 'never returned',
  'pilet_packages.description': { charged: 1_000 },
  'pilet_packages.hash': { boundedBy: 'blobs.sha256' },
  'pilet_packages.key_id': 'never returned',
  'pilet_packages.name': { charged: 214 },
  'pilet_packages.precedence': 'never returned',
  'pilet_packages.statement_key_id': 'never returned',
  'pilet_packages.version': { charged: 256 },
  'project_version_moves.mark': 'never returned',
  'project_version_moves.table_name': 'never returned',
  'project_versions.versions': 'never returned',
  'queued_jobs.data': 'never returned',
  'queued_jobs.group_key': 'never returned',
  'queued_jobs.owner': 'never returned',
  'queued_jobs.queue': 'never returned',
  'schema_compatibility.oldest_migration': 'never returned',
  'scim_groups.external_id': { charged: 320 },
  'scim_users.email_values': 'never returned',
  'scim_users.emails': 'never returned',
  'scim_users.external_id': 'never returned',
  'scim_users.user_name': 'never returned',
  'settings.backend_comms_enabled': 'never returned',
  'settings.backend_module_config': { large: 'BackendModuleConfig' },
  'settings.frontend_comms_enabled': 'never returned',
  'settings.frontend_module_config': { large: 'FrontendModuleConfig' },
  'trigger_runs.cron_expression': { boundedBy: 'triggers.cron_expression' },
  'trigger_runs.failure': { boundedBy: 'constants in the code' },
  'trigger_runs.request_key': 'never returned',
  'trigger_runs.run_key': { boundedBy: 'triggers.run_key' },
  'trigger_runs.trigger_name': { boundedBy: 'triggers.name' },
  'triggers.description': { charged: 2_000 },
  'user2tenants.role_name': { boundedBy: 'tenant_role_definitions.name' },
  'users.external_email': { charged: 320 },
  'users.external_username': { charged: 320 },
}

/** Lists text columns with the check constraints of their tables. Partitions have the same columns as their parent. */
const columnsQuery = `
  select c.relname || '.' || a.attname as name, a.attname as column,
    array(select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid and k.contype = 'c'
      and a.attnum = any (k.conkey)) as checks
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and a.atttypid in ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype, 'text[]'::regtype)
  order by 1`

/** Returns the maximum number of characters that the check constraints allow. */
function lengthBy(column: string, checks: readonly string[]): number {
  const limits = checks.flatMap((check) => {
    const length = new RegExp(String.raw`(?:char|octet)_length\(${column}\) (?:<=|=) (\d+)`).exec(check)?.[1]
    if (length !== undefined) return [Number(length)]
    // The constraint allows only listed words or a pattern with a bounded length, so it limits the length of the
    // value.
    const isClosed = new RegExp(String.raw`\(${column} (?:= ANY|<@|~ '\^.*\$'|= \()`).test(check)
    return isClosed && !check.includes('*$') && !check.includes('+$') ? [maxLength] : []
  })
  return Math.min(Infinity, ...limits)
}
const maxLength = 200

const isLarge = (directives: readonly DirectiveNode[] | undefined): boolean =>
  directives?.some(({ name }) => name.value === 'large') === true

/** Returns the types and the fields (as `Type.field`) that are declared @large. */
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
    // If you add a column, add a length constraint to it, and add its weight to `weights`. If it may have several
    // thousand characters, declare it @large.
    expect(long.map(({ name }) => name)).toEqual(Object.keys(weights).toSorted())
    const large = declaredLarge()
    const problems = long.filter(({ name, length }) => {
      const weight = weights[name] as Weight
      if (weight === 'never returned' || 'boundedBy' in weight) return false
      return 'charged' in weight ? length !== weight.charged : !large.has(weight.large)
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
