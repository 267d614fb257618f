import { Type } from 'typebox'
import {
  cachedHeaders,
  createErrorResponses,
  createPathIdSchema,
  notModifiedSchema,
  createUuidSchema,
} from '../../platform/http/http.schemas.ts'

const tags = ['people' as const]
const projectId = createPathIdSchema('The project')
const name = Type.String({
  description: 'Name of the pilet. In a scoped name, `@` and `/` are percent-encoded.',
})
const version = Type.String({ description: 'Version in strict SemVer format.' })
const message = Type.String({ description: 'Description of the change.' })
const hash = Type.String({ description: 'SHA-256 of the bundle, in lower-case hex.' })
const size = Type.Integer({ description: 'Size in bytes.' })
const keyParams = Type.Object({ projectId, name, version })

/** Optional query parameter with the values true and false. */
const flag = (description: string) =>
  Type.Optional(Type.Enum(['true', 'false'], { title: 'true or false', description }))

const listedPackage = Type.Object(
  {
    id: createUuidSchema('The package.'),
    name: Type.String(),
    version: Type.String(),
    description: Type.String(),
    size,
    hash,
    enabled: Type.Boolean({ description: 'Disabled versions are in no feed.' }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'PiletPackage' },
)

export const listSchema = {
  operationId: 'listPilets',
  summary: 'Returns the pilets of a project',
  description:
    'The response is a stream, ordered by name, then from the lowest to the highest version. If the connection closes before the JSON is complete, the request failed.',
  tags,
  params: Type.Object({ projectId }),
  querystring: Type.Object({
    enabled: flag('If `true`, return only enabled versions; if `false`, only disabled versions.'),
  }),
  response: {
    200: Type.Object({
      packages: Type.Array(listedPackage),
      count: Type.Integer({ description: 'Number of listed versions.' }),
    }),
    ...createErrorResponses('error'),
  },
}

export const uploadSchema = {
  operationId: 'uploadPilet',
  summary: 'Uploads a version of a pilet',
  description: 'An existing version never changes. Uploading it again returns 409.',
  tags,
  params: keyParams,
  querystring: Type.Object({
    description: Type.Optional(Type.String({ description: 'Text for display, at most 1,000 characters.' })),
    enabled: flag(
      '`false` keeps the version out of all feeds until it is enabled. If the caller may not enable versions, the version is always stored disabled.',
    ),
  }),
  form: Type.Object({
    file: Type.String({ format: 'binary', description: 'The bundle, such as a .js or .tgz file.' }),
  }),
  response: {
    200: Type.Object({
      id: createUuidSchema('The package.'),
      name: Type.String(),
      version: Type.String(),
      size,
      hash,
      enabled: Type.Boolean({ description: 'A disabled version is in no feed until it is enabled.' }),
      message,
    }),
    ...createErrorResponses('error', 409, 413, 415),
  },
}

export const downloadSchema = {
  operationId: 'downloadPilet',
  summary: 'Returns the bundle of a pilet version, enabled or disabled',
  tags,
  params: keyParams,
  produces: '*/*',
  responseHeaders: cachedHeaders,
  response: {
    200: Type.String({ format: 'binary', description: 'The bundle, exactly as uploaded.' }),
    304: notModifiedSchema,
    ...createErrorResponses('error'),
  },
}

export const deleteSchema = {
  operationId: 'deletePilet',
  summary: 'Disables a version of a pilet: removes it from all feeds, but keeps it stored',
  tags,
  params: keyParams,
  response: { 200: Type.Object({ message }), ...createErrorResponses('error', 413) },
}
