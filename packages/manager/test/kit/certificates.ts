// Certificates for tests, made when they are needed, so that none expires and no key is stored.
import { type KeyObject, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

type Certificate = { name: string; cert: string; key: string; signingKey: KeyObject }

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const { length } = body
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts)
const bytes = (...values: number[]): Buffer => Buffer.from(values)
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))))
const hostName = (host: string): Buffer =>
  isIPv4(host) ? der(0x87, bytes(...host.split('.').map(Number))) : der(0x82, Buffer.from(host))

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const validity = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
const isAuthority = sequence(oid('551d13'), der(0x04, sequence(der(0x01, bytes(255)))))

/** A certificate for these hosts, signed by the issuer, or by itself; without hosts, one of an authority. */
export function createCertificate(name: string, hosts: readonly string[], issuer?: Certificate): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const alternatives = sequence(oid('551d11'), der(0x04, sequence(...hosts.map(hostName))))
  const content = sequence(
    der(0xa0, der(0x02, bytes(2))),
    der(0x02, bytes(1), randomBytes(8)),
    ecdsaWithSha256,
    commonName(issuer?.name ?? name),
    validity,
    commonName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(hosts.length === 0 ? isAuthority : alternatives)),
  )
  const signature = sign('sha256', content, issuer?.signingKey ?? privateKey)
  const whole = sequence(content, ecdsaWithSha256, der(0x03, bytes(0), signature))
  const cert = `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { name, cert, key, signingKey: privateKey }
}
