// These schemas describe the requests and responses of the access review routes.
import { type TSchema, Type } from 'typebox'
import { chainSchema } from '../../platform/http/chain.schemas.ts'
import { createErrorResponses, errorSchemas, createUuidSchema } from '../../platform/http/http.schemas.ts'
import { notBlankPattern } from '../../platform/http/validation.ts'
import { activities, flags, principalTypes, recommendations, scopeTypes } from './flags.pure.ts'

const timestamp = (description: string) => Type.String({ format: 'date-time', description })
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const decisions = ['approve', 'revoke', 'modify'] as const
const decision = Type.Enum(decisions, { title: 'approve, revoke or modify' })
const counts = (names: readonly string[], description: string) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Integer()])), { description })
const populationHash = Type.String({
  description: 'SHA-256 of the scope and all entries; the hash changes when access changes.',
})

const attested = Type.Object({
  attestation_id: Type.String({ format: 'uuid' }),
  attested_at: timestamp('Time of the attestation.'),
  attested_by: Type.String({ format: 'uuid', description: 'The user who attested.' }),
  decision: Type.Enum(decisions),
})

const entry = Type.Object(
  {
    entry_id: Type.String({
      description:
        'Stable id of the entry: it identifies the same access of the same principal in every report.',
    }),
    principal_type: Type.Enum(principalTypes),
    principal_id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    email: Type.String({
      description:
        'For a token, the e-mail of its owner, or of the administrator who created the SCIM token; empty for machine users.',
    }),
    scope_type: Type.Enum(scopeTypes),
    scope_id: nullable(Type.String({ format: 'uuid', description: 'Null for system scope.' })),
    scope_name: Type.String(),
    project_id: nullable(Type.String({ format: 'uuid' })),
    role: Type.String(),
    enabled: Type.Boolean({ description: 'Whether the access is enabled, regardless of its expiry time.' }),
    granted_at: nullable(timestamp('Time at which the role was granted.')),
    granted_by: nullable(
      Type.String({
        description:
          'The granter according to the audit trail: the id of a user or machine user, or the name of a command. If the person accepted an invitation, the id of the inviter.',
      }),
    ),
    last_activity_at: nullable(
      timestamp('Last activity of the principal in any scope, accurate to about one hour.'),
    ),
    expires_at: nullable(timestamp('Expiry time of a token.')),
    flags: Type.Array(Type.Enum(flags)),
    recommendation: Type.Enum(recommendations),
    last_attestation: nullable(attested),
  },
  { $id: 'AccessReviewEntry' },
)

const summary = Type.Object({
  entries: Type.Integer(),
  principals: Type.Integer(),
  activity_recorded_since: timestamp('Time since which the activity of users and machine users is recorded.'),
  principals_by_scope_type: counts(
    scopeTypes,
    'Number of principals by type of the scopes that they can access.',
  ),
  by_principal_type: counts(principalTypes, 'Number of entries by type of principal.'),
  by_scope_type: counts(scopeTypes, 'Number of entries by type of scope.'),
  by_flag: counts(flags, 'Number of entries by flag; an entry can have several flags.'),
  by_recommendation: counts(recommendations, 'Number of entries by recommendation.'),
  by_last_activity: counts(activities, 'Number of entries by time since the last activity of the principal.'),
  by_role: Type.Array(
    Type.Object({ scope_type: Type.Enum(scopeTypes), role: Type.String(), entries: Type.Integer() }),
    { description: 'The 100 most frequent roles.' },
  ),
  other_roles: Type.Integer({ description: 'Number of entries whose role is not among these 100.' }),
})

const report = Type.Object(
  {
    report_id: Type.String({ format: 'uuid' }),
    generated_at: timestamp('Time of the snapshot that the report shows.'),
    scope: Type.Union([
      Type.Object({ type: Type.Literal('system') }),
      Type.Object({
        type: Type.Literal('project'),
        id: Type.String({ format: 'uuid' }),
        name: Type.String(),
      }),
    ]),
    population_hash: populationHash,
    summary,
    entries: Type.Array(entry),
    chain: chainSchema,
  },
  { $id: 'AccessReview' },
)

export const reviewSchema = {
  operationId: 'readAccessReview',
  summary: 'Returns the complete access list for an access review',
  description:
    'The report is a complete snapshot; if it cannot be completed, the route returns 503. The format is JSON, CSV with `format=csv`, or an HTML page if the client prefers `text/html`. Each report is recorded.',
  tags: ['people' as const],
  querystring: Type.Object({
    project_id: Type.Optional(createUuidSchema('Return only access in this project.')),
    format: Type.Optional(
      Type.Enum(['json', 'csv'], { title: 'json or csv', description: 'Overrides `Accept`.' }),
    ),
  }),
  alternatives: {
    'text/csv': Type.String({ description: 'A header record, followed by one record per entry.' }),
    'text/html': Type.String({ description: 'The summary, up to 1,000 entries, and the attestation form.' }),
  },
  response: { 200: report, ...createErrorResponses('error') },
}

const maxEntries = 10_000
const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, description }))
const hex = (digits: 32 | 64, description: string) =>
  Type.String({
    pattern: digits === 32 ? '^[0-9a-f]{32}$' : '^[0-9a-f]{64}$',
    title: `${digits} hexadecimal digits`,
    description,
  })

export const attestSchema = {
  operationId: 'attestAccessReview',
  summary: 'Records an attestation of an access review',
  description:
    'The attestation is recorded and does not change access. Use the usual operations to revoke or modify access. Without `entries`, the attestation covers every entry of the population, otherwise only the listed entries. Each request creates an attestation, even if it repeats a previous request.',
  tags: ['people' as const],
  body: Type.Object({
    report_id: Type.Optional(
      createUuidSchema('Id of the report. If absent, the attestation covers the whole system.'),
    ),
    population_hash: Type.Optional(
      hex(
        64,
        '`population_hash` of the report. If access has changed since the report, the route returns 409.',
      ),
    ),
    decision,
    comment: text(2_000, 'Stored with the attestation and in the audit trail.'),
    entries: Type.Optional(
      Type.Array(
        Type.Object({
          entry_id: hex(32, '`entry_id` from the report.'),
          decision,
          justification: text(1_000, 'Reason for the decision.'),
        }),
        {
          minItems: 1,
          maxItems: maxEntries,
          title: `1 to ${maxEntries} objects with entry_id (32 hexadecimal digits), decision (approve, revoke or modify) and justification (at most 1000 characters)`,
        },
      ),
    ),
  }),
  response: {
    200: Type.Object({
      attestation_id: Type.String({ format: 'uuid' }),
      attested_at: timestamp('Time of the attestation.'),
      attested_by: Type.String({ format: 'uuid', description: 'The user who attested.' }),
      report_id: nullable(Type.String({ format: 'uuid' })),
      population_hash: populationHash,
      entries: Type.Integer({ description: 'Number of entries that the attestation covers.' }),
    }),
    ...createErrorResponses('error', 404, 409),
  },
}

export const attestFormSchema = {
  operationId: 'attestAccessReviewByForm',
  summary: 'Records an attestation that a person submits on the access review page',
  description:
    'The access review page submits this form. The attestation covers every entry of the report. The response is a page that shows the recorded attestation.',
  tags: ['people' as const],
  consumes: 'application/x-www-form-urlencoded' as const,
  body: Type.Object(
    {
      report_id: createUuidSchema('Id of the report that the page shows.'),
      form_token: Type.String({
        maxLength: 200,
        pattern: notBlankPattern,
        description: 'Form token from the access review page.',
      }),
      decision,
      comment: Type.String({ description: 'Comment of at most 2,000 characters; can be empty.' }),
      confirmed: Type.Optional(
        Type.String({
          maxLength: 10,
          description: '`yes` if the person has reviewed the entries; required to attest.',
        }),
      ),
    },
    { title: 'the fields of the attestation form' },
  ),
  produces: 'text/html',
  response: {
    200: Type.String({ description: 'HTML page.' }),
    401: errorSchemas.page,
    ...createErrorResponses('page', 403, 404, 409, 413, 415),
  },
}
