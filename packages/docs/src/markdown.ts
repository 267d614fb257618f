// Extends Markdown rendering: links to files outside docs/, literal double braces, diagrams and scrolling tables.
import { createHash } from 'node:crypto'
import type { MarkdownRenderer } from 'vitepress'
import { linkOf } from './pages.ts'

type Rules = MarkdownRenderer['renderer']['rules']
type Rule = NonNullable<Rules[string]>
type Env = { relativePath: string }

/** Returns the base name of the files of a diagram, derived from its source. */
export const diagramName = (source: string): string =>
  createHash('sha256').update(source.trim()).digest('hex').slice(0, 16)

/** Adapts the renderer; `onFile` receives each file that a page links to. */
export function adaptMarkdown(md: MarkdownRenderer, onFile: (source: string) => void): void {
  mapLinks(md, onFile)
  keepBraces(md.renderer.rules)
  showDiagrams(md.renderer.rules)
  const { rules } = md.renderer
  rules['table_open'] = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n'
  rules['table_close'] = () => '</table></div>\n'
}

function mapLinks(md: MarkdownRenderer, onFile: (source: string) => void): void {
  md.core.ruler.push('map_links', ({ tokens, env }) => {
    const { relativePath } = env as Env
    for (const { children } of tokens)
      for (const token of children ?? []) {
        const link = token.type === 'link_open' ? token.attrGet('href') : null
        if (link !== null) token.attrSet('href', linkOf(relativePath, link, onFile))
      }
  })
}

/** Marks text between double braces with v-pre. Vue would evaluate it otherwise. */
function keepBraces(rules: Rules): void {
  const { code_inline: code, text } = rules as { code_inline: Rule; text: Rule }
  rules['code_inline'] = (tokens, index, ...rest) => {
    tokens[index]?.attrSet('v-pre', '')
    return withBreaks(code(tokens, index, ...rest))
  }
  rules['text'] = (tokens, index, ...rest) => {
    const written = text(tokens, index, ...rest)
    return written.includes('{{') ? `<span v-pre>${written}</span>` : written
  }
}

/** Lets long names break after a separator, so that columns of tables stay narrow without splitting words. */
const withBreaks = (html: string): string =>
  html.replace(/(?<=^<code[^>]*>).*(?=<\/code>$)/s, (text) =>
    text.replaceAll(/(?<=\w[._/,]|\w&lt;)(?=\w)/g, '<wbr>'),
  )

function showDiagrams(rules: Rules): void {
  const fence = rules['fence'] as Rule
  rules['fence'] = (tokens, index, ...rest) => {
    const token = tokens[index]
    const written = fence(tokens, index, ...rest)
    if (token?.info.trim() !== 'mermaid') return written
    const name = diagramName(token.content)
    const image = (mode: string): string =>
      `<img class="${mode}-only" src="/diagrams/${name}-${mode}.svg" alt="Diagram; the text version follows">`
    return `<figure class="diagram">${image('light')}${image('dark')}</figure><details><summary>Diagram as text</summary>${written}</details>`
  }
}
