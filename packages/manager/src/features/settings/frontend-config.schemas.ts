import { Type } from 'typebox'
import {
  createErrorResponses,
  createPathIdSchema,
  notModifiedSchema,
  cachedHeaders,
  createUuidSchema,
} from '../../platform/http/http.schemas.ts'

const texts = Type.Array(Type.String())
const config = Type.Object(
  {
    config: Type.Object({
      enabled_modules: texts,
      enabled_themes: texts,
      default_theme: Type.String(),
      enabled_locales: texts,
      default_locale: Type.String(),
      key_value_pairs: Type.Array(Type.Object({ key: Type.String(), value: Type.String() })),
    }),
    project_id: createUuidSchema('The project of the application.'),
  },
  { $id: 'FrontendConfig' },
)
const application_id = createPathIdSchema('The application')
const response = { 200: config, 304: notModifiedSchema, ...createErrorResponses('error', 404) }

export const tenantConfigSchema = {
  operationId: 'getFrontendConfig',
  summary: 'Returns the frontend configuration of an application in a tenant',
  tags: ['proxy' as const],
  params: Type.Object({ application_id, tenant_id: createPathIdSchema('The tenant') }),
  response,
  responseHeaders: cachedHeaders,
}

export const defaultConfigSchema = {
  operationId: 'getFrontendConfigDefaults',
  summary: 'Returns the frontend configuration of an application without tenant settings',
  tags: ['proxy' as const],
  deprecated: true as const,
  params: Type.Object({ application_id }),
  response,
  responseHeaders: {
    200: ['ETag' as const, 'Deprecation' as const, 'Sunset' as const],
    304: ['ETag' as const, 'Deprecation' as const, 'Sunset' as const],
  },
}
