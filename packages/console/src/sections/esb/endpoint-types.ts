// Types of API rows, as the section reads them, and the addresses of its pages.
import type { EsbAccessResult, EsbEndpointResult, EsbEndpointsResult } from '../../generated/documents.ts'
import type { ApplicationName } from '../../app/applications.ts'

export type Endpoint = EsbEndpointResult['endpoint']
export type ListedEndpoint = EsbEndpointsResult['endpointsConnection']['nodes'][number]
/** An endpoint in the list of all applications. */
export type EndpointRow = ListedEndpoint & {
  readonly application: Pick<ApplicationName, 'id' | 'name'>
}
export type AccessRow = EsbAccessResult['machineUser2endpointsConnection']['nodes'][number]

/** Returns the path that machine users call. */
export const toCallPath = ({
  application,
  consumeURL,
}: Pick<Endpoint, 'application' | 'consumeURL'>): string => `/esb/${application.id}${consumeURL}`

/** Returns the host of a target URL, with its port; null if there is none. */
export const findHost = (url: string | null): string | null =>
  url !== null && URL.canParse(url) ? new URL(url).host : null
