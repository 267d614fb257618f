// Draws the Mermaid diagrams in a browser at build time, once for light and once for dark pages. Readers load
// images instead of scripts.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Page, chromium } from 'playwright-core'
import { ensureChromium } from '@manager/harness/engines/install.ts'
import { getDiagramName } from './markdown.ts'

const themesByMode = { light: 'neutral', dark: 'dark' } as const
const mermaidScript = createRequire(import.meta.url).resolve('mermaid/dist/mermaid.min.js')

/** Returns the Mermaid source of every diagram in Markdown text. */
export const listDiagrams = (text: string): string[] =>
  text
    .split('\n```mermaid\n')
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf('\n```') + 1))

/** Writes the images of all diagrams into the folder. */
export async function drawDiagrams(sources: readonly string[], folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    await page.setContent('<!doctype html><body></body>')
    await page.addScriptTag({ content: readFileSync(mermaidScript, 'utf8') })
    for (const source of sources)
      for (const [mode, theme] of Object.entries(themesByMode))
        writeFileSync(
          `${folder}/${getDiagramName(source)}-${mode}.svg`,
          await renderDiagram(page, source, theme),
        )
  } finally {
    await browser.close()
  }
}

type Mermaid = {
  initialize(options: object): void
  render(id: string, source: string): Promise<{ svg: string }>
}

const renderDiagram = (page: Page, source: string, theme: string): Promise<string> =>
  page.evaluate(
    async ([text, name]) => {
      const { mermaid } = globalThis as unknown as { mermaid: Mermaid }
      // Labels must be SVG text: an <img> element does not render HTML inside an SVG.
      mermaid.initialize({
        startOnLoad: false,
        theme: name,
        htmlLabels: false,
        flowchart: { htmlLabels: false },
        securityLevel: 'strict',
      })
      return (await mermaid.render('diagram', text)).svg
    },
    [source, theme] as const,
  )
