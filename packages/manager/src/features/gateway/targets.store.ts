import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { createVersionSql } from '../../platform/postgres/project-version.ts'

/** Identifies the endpoint that a machine user calls. */
export type TargetKey = { projectId: string; applicationId: string; machineUserId: string; path: string }

export type TargetRow = {
  version: string
  id: string
  /** The revision of the endpoint. */
  revision: number
  name: string
  description: string
  consumeUrl: string
  url: string | null
  authType: string
  authUsername: string
  authPassword: Buffer | null
  authToken: Buffer | null
  inputMessageType: string | null
  outputMessageType: string | null
  transformationTemplate: string
  logLevel: string
  application: { id: string; name: string; slug: string; description: string }
  isAllowed: boolean
}

// The statement costs four index lookups per key. The version is read from the same snapshot.
const statement: PreparedStatement = {
  name: 'esb-targets',
  kind: 'read',
  size: 'large',
  text: `
    select wanted.position::int, ${createVersionSql('wanted.project_id', 'endpoints')} as version,
      e.id, e.revision, e.name, e.description, e.consume_url as "consumeUrl", e.url, e.auth_type as "authType",
      e.auth_username as "authUsername", e.auth_password as "authPassword", e.auth_token as "authToken",
      e.input_message_type as "inputMessageType", e.output_message_type as "outputMessageType",
      e.transformation_template as "transformationTemplate", e.log_level as "logLevel",
      json_build_object('id', a.id, 'name', a.name, 'slug', a.slug, 'description', a.description) as application,
      coalesce(access.enabled, false) as "isAllowed"
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) with ordinality
      as wanted (project_id, application_id, machine_user_id, path, position)
    join applications a on a.id = wanted.application_id and a.project_id = wanted.project_id
    join endpoints e on e.application_id = a.id and e.consume_url = wanted.path and e.enabled
    left join machine_user2endpoints access
      on access.endpoint_id = e.id and access.machine_user_id = wanted.machine_user_id`,
}

/** Returns the enabled endpoints with exactly these paths, in the same order; null for a path without an endpoint. */
export async function readTargets(
  run: RunPrepared,
  keys: readonly TargetKey[],
): Promise<(TargetRow | null)[]> {
  const rows = await run<TargetRow & { position: number }>(statement, [
    keys.map(({ projectId }) => projectId),
    keys.map(({ applicationId }) => applicationId),
    keys.map(({ machineUserId }) => machineUserId),
    keys.map(({ path }) => path),
  ])
  return orderByPosition<TargetRow>(keys.length, rows)
}
