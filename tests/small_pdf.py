"""A PDF file of one page, as small as they come: read by another process, which needs a copy of it."""

PDF = (
    "%PDF-1.4\n"
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R"
    "/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
    "4 0 obj<</Length 54>>stream\nBT /F1 18 Tf 20 100 Td (A page of a small file.) Tj ET\nendstream endobj\n"
    "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
    "trailer<</Root 1 0 R>>\n%%EOF\n"
)
