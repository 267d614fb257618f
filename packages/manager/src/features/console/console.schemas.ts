import { Type } from 'typebox'
import {
  cachedHeaders,
  createErrorResponses,
  errorSchemas,
  notModifiedSchema,
} from '../../platform/http/http.schemas.ts'

const page = Type.Unknown({ description: 'HTML page.' })
const commonPageFields = {
  tags: ['people' as const],
  produces: 'text/html',
  response: {
    200: page,
    304: notModifiedSchema,
    401: errorSchemas.page,
    ...createErrorResponses('page', 404),
  },
  responseHeaders: cachedHeaders,
}

export const startSchema = {
  operationId: 'openConsole',
  summary: 'Returns the page of the console',
  description:
    'The page loads its data from other routes. If the console is not built, the route returns 404.',
  ...commonPageFields,
}

export const viewSchema = {
  operationId: 'openConsoleView',
  summary: 'Returns the page of the console for an address inside the console',
  description: 'The page is the same at every address. The script of the page selects the view.',
  path: '/console/{view}',
  params: Type.Object({
    view: Type.Optional(
      Type.String({
        description: 'Address of the view inside the console; it can be empty and contain slashes.',
      }),
    ),
  }),
  ...commonPageFields,
}

export const assetSchema = {
  operationId: 'getConsoleAsset',
  summary: 'Returns a script, a style or an image of the console',
  description: 'The name of a file contains a hash of its content, so the content never changes.',
  tags: ['people' as const],
  params: Type.Object({ file: Type.String({ description: 'Name of the file.' }) }),
  produces: [
    'text/javascript',
    'text/css',
    'image/svg+xml',
    'image/png',
    'font/woff2',
    'application/octet-stream',
  ],
  response: { 200: Type.Unknown(), ...createErrorResponses('error', 404) },
}
