import { describe, expect, test } from 'vitest'
import { selectCallerHeaders, selectUpstreamHeaders } from './passed-headers.pure.ts'

const none = new Set<string>()

describe('headersToUpstream', () => {
  test('[esb.stripped-headers] [esb.hop-by-hop] leaves out what is listed, in any case and with underscores', () => {
    const names =
      'connection keep-alive proxy-connection te trailer transfer-encoding upgrade http2-settings expect ' +
      'proxy-authenticate proxy-authorization proxy-authentication-info host content-length authorization cookie ' +
      'forwarded x-request-id x-svc-hops x-svc-user x-proxy-auth x-user-id x-tenant-id x-token-subject x-forwarded-for ' +
      'x-real-ip oidc-claim-sub oidc-claim-email oidc-access-token traceparent tracestate'
    for (const name of names.split(' '))
      for (const spelt of [name, name.toUpperCase(), name.replaceAll('-', '_'), name.replace('-', '_')])
        expect([spelt, selectUpstreamHeaders([spelt, '1', 'X-Other', '2'], none)]).toEqual([
          spelt,
          ['X-Other', '2'],
        ])
  })

  test('[esb.hop-by-hop] keeps the rest in its order and spelling', () => {
    const raw = [
      'X-B',
      '2',
      'x-a',
      '1',
      'X-B',
      '3',
      'X-Tokens',
      '',
      'Cookies',
      'x',
      'X_Forward',
      'y',
      'X-Forwarded',
      'z',
      'X-Real',
      'a',
      'OIDC',
      'b',
      'X-Svc',
      'c',
      'X-Oidc-Claim-Sub',
      'd',
    ]
    expect(selectUpstreamHeaders(raw, none)).toEqual(raw)
  })

  test('[esb.hop-by-hop] leaves out what any Connection header names, wherever it stands', () => {
    const raw = ['X-A', '1', 'Connection', 'close', 'x_b', '2', 'CONNECTION', ' X-A ,x-b,', 'X-C', '3']
    expect(selectUpstreamHeaders(raw, none)).toEqual(['X-C', '3'])
    // This name also has ten letters, but it is not Connection.
    expect(selectUpstreamHeaders(['Disconnect', 'x-c', 'X-C', '3'], none)).toEqual([
      'Disconnect',
      'x-c',
      'X-C',
      '3',
    ])
  })

  test('[esb-templates.content-type] leaves out what is replaced', () => {
    const raw = ['Content-Type', 'a', 'CONTENT_TYPE', 'b', 'Content-Encoding', 'c', 'Content-Language', 'd']
    expect(selectUpstreamHeaders(raw, new Set(['content-type', 'content-encoding']))).toEqual([
      'Content-Language',
      'd',
    ])
  })
})

describe('headersToCaller', () => {
  test('[esb.response] passes all but what is about the connection, and our request id', () => {
    const passed = { 'set-cookie': ['a', 'b'], 'content-length': '1', location: '/x', 'x-forwarded-for': 'y' }
    const kept = {
      connection: 'close, X-Hop',
      'x-hop': '1',
      'x-request-id': 'theirs',
      'keep-alive': '1',
      te: '1',
    }
    expect(selectCallerHeaders({ ...passed, ...kept })).toEqual(passed)
  })

  test('[esb.response] an underscore in the name of a header is a hyphen to Connection', () => {
    expect(selectCallerHeaders({ connection: 'x_hop', x_hop: '1', 'x-stays': '1' })).toEqual({
      'x-stays': '1',
    })
  })
})
