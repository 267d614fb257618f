// Test certificates. They are generated on demand, so that none expires and no key is stored.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import forge from 'node-forge'

export type Certificate = { name: string; cert: string; key: string }
type Options = {
  /** The signing authority. Without it, the certificate is self-signed. */
  issuer?: Certificate
  validUntil?: Date
}

/** Creates a certificate for these hosts, or a CA certificate if there are no hosts. */
export function createCertificate(
  name: string,
  hosts: readonly string[],
  { issuer, validUntil = new Date('2049-12-31') }: Options = {},
): Certificate {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const own = forge.pki.privateKeyFromPem(privateKey)
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.setRsaPublicKey(own.n, own.e)
  certificate.serialNumber = `01${randomBytes(8).toString('hex')}`
  certificate.validity.notBefore = new Date('2020-01-01')
  certificate.validity.notAfter = validUntil
  certificate.setSubject([{ name: 'commonName', value: name }])
  certificate.setIssuer([{ name: 'commonName', value: issuer?.name ?? name }])
  certificate.setExtensions([
    hosts.length === 0
      ? { name: 'basicConstraints', cA: true, critical: true }
      : { name: 'subjectAltName', altNames: hosts.map(alternativeName) },
  ])
  certificate.sign(
    issuer === undefined ? own : forge.pki.privateKeyFromPem(issuer.key),
    forge.md.sha256.create(),
  )
  return { name, cert: forge.pki.certificateToPem(certificate), key: privateKey }
}

const alternativeName = (host: string) =>
  isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host }
