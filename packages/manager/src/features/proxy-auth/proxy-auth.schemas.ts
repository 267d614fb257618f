import { Type } from 'typebox'
import {
  createErrorResponses,
  createPathIdSchema,
  createUuidSchema,
} from '../../platform/http/http.schemas.ts'
import { notBlankPattern } from '../../platform/http/validation.ts'

const tenant = Type.Object(
  { id: createUuidSchema('The tenant.'), name: Type.String() },
  { $id: 'TenantName' },
)

const validation = Type.Object(
  {
    valid: Type.Literal(true),
    user: Type.Object({
      id: createUuidSchema('The person or machine user.'),
      email: Type.String({ description: 'Empty for machine users.' }),
      name: Type.String(),
      username: Type.String(),
      is_machine_user: Type.Boolean(),
      is_personal_token: Type.Boolean(),
    }),
    tenant: Type.Union([tenant, Type.Null()], {
      description: 'The available tenant if there is exactly one, otherwise null.',
    }),
    application: Type.Object({
      has_access: Type.Boolean({ description: 'Whether the caller may use the application.' }),
      role: Type.Union([Type.Literal('normal'), Type.Literal('readonly'), Type.Null()]),
      available_tenants: Type.Array(tenant, { description: 'Ordered by name, at most 10,000.' }),
      available_tenants_truncated: Type.Optional(
        Type.Literal(true, { description: 'True if more tenants exist than are listed.' }),
      ),
    }),
  },
  { $id: 'Validation' },
)

/** Optional string that may also be null or empty. */
const optionalText = (maxLength: number, description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()], { description }))

export const validateCredentialSchema = {
  operationId: 'validateProxyAuth',
  summary: 'Identifies the owner of a credential and returns their access to an application',
  description: 'The route returns 200 for every valid credential, even if its owner has no access.',
  tags: ['proxy' as const],
  body: Type.Object({
    authorization_header: Type.String({
      maxLength: 8_192,
      pattern: notBlankPattern,
      description: "The caller's `Authorization` header, unchanged, or only a personal access token.",
    }),
    application_id: createUuidSchema('The called application.'),
  }),
  response: { 200: validation, ...createErrorResponses('validation', 401, 429) },
}

export const validatePersonSchema = {
  operationId: 'validateOauthUser',
  summary: 'Returns the access of a signed-in user to an application',
  description:
    'Creates the user on the first sign-in, and updates the stored name and e-mail if they have changed.',
  tags: ['proxy' as const],
  body: Type.Object({
    user_id: createUuidSchema('The subject at the identity provider.'),
    email: optionalText(320, 'If absent, null or empty, the stored e-mail stays unchanged.'),
    name: optionalText(200, 'If absent, null or empty, the stored name stays unchanged.'),
    application_id: createUuidSchema('The called application.'),
  }),
  response: { 200: validation, ...createErrorResponses('validation', 429) },
}

export const listTenantsSchema = {
  operationId: 'listTenantsOfUser',
  summary: 'Returns the tenants that a person may choose from',
  tags: ['proxy' as const],
  params: Type.Object({ user_id: createPathIdSchema('The person') }),
  querystring: Type.Object({
    application_id: Type.Optional(
      Type.String({
        description:
          'Return only tenants for which this application is enabled; if absent or empty, all tenants.',
      }),
    ),
  }),
  response: {
    200: Type.Object({
      tenants: Type.Array(
        Type.Object({
          id: createUuidSchema('The tenant.'),
          name: Type.String(),
          slug: Type.String(),
          role: Type.String({
            description: 'Role in the tenant, otherwise in the project, otherwise `administrator`.',
          }),
          project_id: createUuidSchema('The project of the tenant.'),
          deployment_mode: Type.String(),
        }),
        { description: 'Ordered by name, at most 10,000.' },
      ),
      truncated: Type.Optional(
        Type.Literal(true, { description: 'True if more tenants exist than are listed.' }),
      ),
    }),
    ...createErrorResponses('error'),
  },
}
