import { Type } from 'typebox'
import {
  createErrorResponses,
  createPathIdSchema,
  notModifiedSchema,
  cachedHeaders,
} from '../../platform/http/http.schemas.ts'

export const languagePackSchema = {
  operationId: 'getLanguagePack',
  summary:
    'Returns the translations of an application for a locale, or for its language if there is no exact match',
  tags: ['proxy' as const],
  params: Type.Object({
    applicationId: createPathIdSchema('The application'),
    locale: Type.String({ description: 'Locale such as `de` or `de-CH`; case does not matter.' }),
  }),
  response: {
    200: Type.Object({
      locale: Type.String({ description: 'Locale of the returned language pack.' }),
      messages: Type.Object(
        {},
        { additionalProperties: true, description: 'Nested objects; each part of a key is one level.' },
      ),
    }),
    304: notModifiedSchema,
    ...createErrorResponses('error', 404),
  },
  responseHeaders: cachedHeaders,
}
