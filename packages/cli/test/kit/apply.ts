// Writes `apply` files to separate folders and reads their plans.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { useSvc } from './svc.ts'

/** Returns a file with one resource of every kind, in a project with this slug. */
export const shop = (slug: string): string => `
projects:
  - slug: ${slug}
    name: Web shop
    settings:
      backend: { modules: [cart], pairs: { mail.from: shop@example.com } }
      frontend: { themes: [light, dark], defaultTheme: light }
    environments:
      dev:
        machineUsers:
          - name: billing
            tokenFile: tokens/${slug}.token
    applications:
      - slug: web
        name: Shop
        endpoints:
          - name: orders
            consumeURL: /orders
            url: https://erp.example.com/orders
            authType: Basic
            authUsername: shop
            authPasswordFile: erp.password
            transformationTemplateFile: orders.tmpl
            callers: [dev/billing]
        triggers:
          - name: nightly
            cronExpression: 0 3 * * *
            runKey: close-the-day
    languagePacks:
      - name: de
        content: { cart: { title: Warenkorb } }
    tenants:
      - slug: acme
        name: Acme Ltd
        deploymentMode: dedicated
        applications:
          - slug: web
            settings: { frontend: { defaultTheme: dark } }
`

export type Step = {
  action: string
  kind: string
  path: string
  changes: { field: string; before: unknown; after: unknown }[]
}

/** A service with helpers for `apply` tests. */
export function useApply() {
  const kit = useSvc()
  const { folder, json } = kit
  /**
   * Creates a folder with the document and the files that it names. `token` is the path of the token file.
   */
  function writeDocument(name: string, text = shop(name)): { file: string; token: string } {
    const here = path.join(folder.path, name)
    mkdirSync(here, { recursive: true })
    writeFileSync(path.join(here, 'erp.password'), 'very secret\n')
    writeFileSync(path.join(here, 'orders.tmpl'), '{{ .Data.id }}')
    const file = path.join(here, 'shop.yaml')
    writeFileSync(file, text)
    return { file, token: path.join(here, 'tokens', `${name}.token`) }
  }
  /** Returns the steps that have not run yet. */
  const pendingSteps = async (file: string): Promise<Step[]> => {
    const { steps } = (await json(['apply', '-f', file, '--plan'])) as { steps: Step[] }
    return steps.filter(({ action }) => action !== 'unchanged')
  }
  return { ...kit, writeDocument, pendingSteps }
}
