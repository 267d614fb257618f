// The default theme with system fonts, and colors that have enough contrast.
import theme from 'vitepress/theme-without-fonts'
import './site.css'

export default theme
