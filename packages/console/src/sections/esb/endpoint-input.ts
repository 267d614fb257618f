// The fields of the endpoint form, and the input of the API that they become.
import type { CreateEndpointInput } from '../../generated/documents.ts'
import type { Endpoint } from './endpoint-types.ts'

type MessageType = NonNullable<Endpoint['inputMessageType']>
export type EndpointValues = {
  readonly name: string
  readonly description: string
  readonly consumeURL: string
  readonly url: string
  readonly authType: Endpoint['authType']
  readonly authUsername: string
  /** Empty keeps the stored password. */
  readonly authPassword: string
  /** Empty keeps the stored token. */
  readonly authToken: string
  /** Empty for bodies of any kind. */
  readonly inputMessageType: MessageType | ''
  readonly outputMessageType: MessageType | ''
  readonly logLevel: Endpoint['logLevel']
}

export const readEndpointValues = (endpoint: Endpoint | null): EndpointValues => ({
  name: endpoint?.name ?? '',
  description: endpoint?.description ?? '',
  consumeURL: endpoint?.consumeURL ?? '/',
  url: endpoint?.url ?? '',
  authType: endpoint?.authType ?? 'None',
  authUsername: endpoint?.authUsername ?? '',
  authPassword: '',
  authToken: '',
  inputMessageType: endpoint?.inputMessageType ?? '',
  outputMessageType: endpoint?.outputMessageType ?? '',
  logLevel: endpoint?.logLevel ?? 'BASIC',
})

/** Returns a secret to store, or an empty text to clear it; nothing if the stored secret stays. */
function changeSecret(isUsed: boolean, wasUsed: boolean, typed: string): string | undefined {
  if (isUsed) return typed === '' ? undefined : typed
  return wasUsed ? '' : undefined
}

/**
 * Returns the input of the API. A secret that the kind of authentication no longer uses is cleared, so that it does not
 * stay in the database unnoticed.
 */
export function toEndpointInput(values: EndpointValues, stored: Endpoint | null): CreateEndpointInput {
  const { authType, authUsername, authPassword, authToken, ...others } = values
  const isBasic = authType === 'Basic'
  const password = changeSecret(isBasic, stored?.authType === 'Basic', authPassword)
  const token = changeSecret(authType === 'Bearer', stored?.authType === 'Bearer', authToken)
  return {
    ...others,
    url: values.url.trim() === '' ? null : values.url.trim(),
    inputMessageType: values.inputMessageType === '' ? null : values.inputMessageType,
    outputMessageType: values.outputMessageType === '' ? null : values.outputMessageType,
    authType,
    authUsername: isBasic ? authUsername : '',
    ...(password === undefined ? {} : { authPassword: password }),
    ...(token === undefined ? {} : { authToken: token }),
  }
}
