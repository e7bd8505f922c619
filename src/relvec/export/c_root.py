"""The C of a matrix root: Jacobi's method, as there is no library to ask."""

#: R with RᵀR = A by rotations, for the type `{real}`. Below the share `{least}` of the diagonal an
#: entry is rounding: to rotate it away would turn axes of the same width at random.
PRINCIPAL_ROOT = """\
/* R with R'R = A, widest axis first, the largest component of each positive; A is destroyed. */
static void principal_root(int size, {real} *a, {real} *root)
{{
    int rotated = 1;
    for (int i = 0; i < size * size; ++i) {{
        root[i] = i % (size + 1) ? {zero} : {one};
    }}
    for (int sweep = 0; rotated && sweep < 50; ++sweep) {{
        rotated = 0;
        for (int p = 0; p < size; ++p) {{
            for (int q = p + 1; q < size; ++q) {{
                const {real} off = a[p * size + q];
                const {real} app = a[p * size + p], aqq = a[q * size + q];
                if ({fabs}(off) <= {least} * ({fabs}(app) + {fabs}(aqq))) {{
                    continue;
                }}
                rotated = 1;
                const {real} theta = (aqq - app) / ({two} * off);
                const {real} far = {fabs}(theta) + {sqrt}(theta * theta + {one});
                const {real} t = theta < {zero} ? -{one} / far : {one} / far;
                const {real} c = {one} / {sqrt}(t * t + {one}), s = t * c;
                for (int i = 0; i < size; ++i) {{
                    const {real} low = a[i * size + p], high = a[i * size + q];
                    a[i * size + p] = c * low - s * high;
                    a[i * size + q] = s * low + c * high;
                }}
                for (int i = 0; i < size; ++i) {{
                    const {real} low = a[p * size + i], high = a[q * size + i];
                    a[p * size + i] = c * low - s * high;
                    a[q * size + i] = s * low + c * high;
                }}
                for (int i = 0; i < size; ++i) {{
                    const {real} low = root[p * size + i], high = root[q * size + i];
                    root[p * size + i] = c * low - s * high;
                    root[q * size + i] = s * low + c * high;
                }}
            }}
        }}
    }}
    for (int p = 0; p < size; ++p) {{
        int widest = p, largest = 0;
        for (int q = p + 1; q < size; ++q) {{
            if (a[q * size + q] > a[widest * size + widest]) {{
                widest = q;
            }}
        }}
        const {real} value = a[widest * size + widest];
        a[widest * size + widest] = a[p * size + p];
        for (int i = 0; i < size; ++i) {{
            if ({fabs}(root[widest * size + i]) > {fabs}(root[widest * size + largest])) {{
                largest = i;
            }}
        }}
        const {real} length = {sqrt}({fmax}(value, {zero}));
        const {real} factor = root[widest * size + largest] < {zero} ? -length : length;
        for (int i = 0; i < size; ++i) {{
            const {real} taken = factor * root[widest * size + i];
            root[widest * size + i] = root[p * size + i];
            root[p * size + i] = taken;
        }}
    }}
}}

"""


def principal_root(real: str) -> str:
    """The function for double or float."""
    end = "f" if real == "float" else ""
    numbers = {"zero": "0.0", "one": "1.0", "two": "2.0"}
    least = "6e-8f" if end else "1e-16"
    functions = {name: name + end for name in ("fabs", "sqrt", "fmax")}
    literals = {name: text + end for name, text in numbers.items()}
    return PRINCIPAL_ROOT.format(real=real, least=least, **literals, **functions)
